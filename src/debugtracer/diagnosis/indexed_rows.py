"""Which rows of the data a batch holds that the loop took by an index (`model(x[rows])`): the samples, where no loader
names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.tape.entry import Entry, Leaf, Slot

DEEP = 4  # calls between an index and what it was cut from (ours)
WHOLE = (torch.int64, torch.int32)


def indexed_rows(entries: Sequence[Entry], upto: int | None, rows: Sequence[int]) -> tuple[int, ...] | None:
    """The numbers of these rows, each once, in the tensor from which the last model called before an entry got its
    input; None where its inputs were not taken by an index, or by different ones. Syncs the host."""
    last = len(entries) if upto is None else upto + 1
    called = next((e for e in reversed(entries[:last]) if e.kind == "module" and e.grad), None)
    if called is None or not rows:
        return None
    found = [index for value in given(called) if (index := index_of(entries, value)) is not None]
    if not found or any(not torch.equal(found[0], other) for other in found[1:]):
        return None
    if not 0 <= min(rows) <= max(rows) < len(found[0]):
        return None
    return tuple(dict.fromkeys(int(found[0][row]) for row in rows))


def given(entry: Entry) -> list[Any]:
    """The arguments of a recorded call."""
    return [*(entry.args or ()), *(entry.kwargs or {}).values()]


def index_of(entries: Sequence[Entry], value: Any) -> Tensor | None:
    """The one index along the first dimension by which a value was taken from a tensor from outside the step."""
    entry = maker(entries, value)
    if entry is None:
        return None
    name, args = getattr(entry.function, "__name__", ""), given(entry)
    if name == "index_select" and len(args) > 2 and args[1] == 0:
        place = args[2]
    elif name == "__getitem__" and len(args) == 2:
        place = args[1]
    else:
        return None
    if not isinstance(args[0], Leaf):
        return None
    index = value_of(entries, place, DEEP)
    return index if index is not None and index.dtype in WHOLE and index.dim() == 1 else None


def maker(entries: Sequence[Entry], value: Any) -> Entry | None:
    """The recorded call of a function that made a value."""
    if not isinstance(value, Slot) or not 0 <= value.entry < len(entries):
        return None
    entry = entries[value.entry]
    return entry if entry.kind == "fn" and entry.segment == value.segment and not value.output else None


def value_of(entries: Sequence[Entry], value: Any, deep: int) -> Tensor | None:
    """The tensor that an argument was: from outside the step, or a part of one."""
    if isinstance(value, Slot) and 0 <= value.entry < len(entries) and entries[value.entry].kind == "const":
        value = entries[value.entry].args[value.output]  # drawn in the step: `torch.randint(...)`
    if isinstance(value, Leaf):
        kept = value.saved if value.saved is not None else value.tensor
        return None if value.moved else kept.detach().cpu()
    entry = maker(entries, value) if deep else None
    if entry is None or entry.function is not Tensor.__getitem__:
        return None
    whole, cut = given(entry)
    if not isinstance(cut, slice) or not all(n is None or type(n) is int for n in (cut.start, cut.stop, cut.step)):
        return None
    cut_from = value_of(entries, whole, deep - 1)
    return cut_from[cut] if cut_from is not None and cut_from.dim() else None
