"""Which tensors of the batch alone decide a value that an op cannot take: those behind its divisor, the argument of a
function with a domain, or the mask of a fill."""

from __future__ import annotations

from debugtracer.replay.op_trace.calls import Group
from debugtracer.replay.op_trace.kinds import short
from debugtracer.replay.op_trace.tensor_writes import Writes

DECIDES = {
    "div": 1, "true_divide": 1, "divide": 1, "reciprocal": 0, "sqrt": 0, "rsqrt": 0, "log": 0, "log2": 0, "log10": 0,
    "masked_fill": 1, "where": 0, "index_put": 1,
}  # fmt: skip
"""The place, among the tensors that an op reads, of the one that makes it a bad value."""


def deciding(memory: Writes, op: str, group: Group) -> frozenset[str]:
    """The names of these tensors; none where a parameter, a buffer or a table takes part, or the op has no such
    place."""
    place = DECIDES.get(short(op).strip("_"))
    if place is None or place >= len(group.reads):
        return frozenset()
    tensor = group.reads[place].tensor
    makers, was_there = memory.writers(tensor)
    name = memory.name_of(tensor) if was_there else ""
    if any(one.foreign for one in makers) or (was_there and not name.startswith("batch")):
        return frozenset()
    own = {name} if name else set()
    return frozenset(own.union(*(one.leaves for one in makers)))
