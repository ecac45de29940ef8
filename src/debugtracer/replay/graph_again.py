"""A bad loss whose step was not recorded: its graph keeps what the calls that made it have read. They are computed
again with that, in the order in which they ran, until one makes a bad value out of good ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import torch
from torch import Tensor
from torch.autograd.graph import Node

from debugtracer.callsites.line import user_frame
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.graph_line import kind_of, line_of
from debugtracer.replay.lines_again import is_bad
from debugtracer.replay.op_trace.birth import deliberate, find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.birth import Birth, Frame

MOST = 20_000  # nodes of a graph that are looked at (ours)
READS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "Acos": (torch.acos, ("self",)), "Acosh": (torch.acosh, ("self",)), "Asin": (torch.asin, ("self",)),
    "Atanh": (torch.atanh, ("self",)), "Bmm": (torch.bmm, ("self", "mat2")), "Div": (torch.div, ("self", "other")),
    "Lgamma": (torch.lgamma, ("self",)), "Log": (torch.log, ("self",)), "Log10": (torch.log10, ("self",)),
    "Log1P": (torch.log1p, ("self",)), "Log2": (torch.log2, ("self",)), "Mm": (torch.mm, ("self", "mat2")),
    "Mul": (torch.mul, ("self", "other")), "Pow": (torch.pow, ("self", "exponent")),
    "Xlogy": (torch.xlogy, ("self", "other")),
}  # fmt: skip
"""Calls whose graph keeps all that they read: the function, and what it is given, in order."""
LEARNT = "parameter behind it"
HANDS_ON = frozenset({
    "Abs", "Add", "Addmm", "AsStrided", "Bmm", "Cat", "Clone", "Expand", "L1Loss", "Log", "Log10", "Log1P", "Log2",
    "Mean", "Mm", "MseLoss", "Mul", "Neg", "Permute", "ReshapeAlias", "Rsub", "Sqrt", "Squeeze", "Stack", "Sub", "Sum",
    "T", "ToCopy", "Transpose", "UnsafeView", "Unsqueeze", "View",
})  # fmt: skip
"""Calls whose result is bad wherever what they read is: no infinity ends as a number, no element is left out."""


def birth_in_graph(alarm: Alarm) -> Birth:
    """The call whose bad result the loss was computed from. Syncs the host. Raises ReplayRefused."""
    end = alarm.loss.grad_fn if alarm.loss is not None else None
    if end is None:
        raise ReplayRefused("the loss has none")
    frame = user_frame()
    for node in sorted(reached(end), key=lambda one: one._sequence_nr()) if frame is not None else ():
        given = read_by(node)
        if frame is None or given is None or any(has_bad(one) for one in given) or not has_bad(made_by(node, given)):
            continue
        birth = traced(node, given, line_of(node, frame))
        if birth is not None:
            return birth
    raise ReplayRefused("no call whose arguments it keeps made the bad value")


def made_by(node: Node, given: list[Any]) -> Any:
    """What a call gives. Raises ReplayRefused."""
    try:
        with torch.no_grad():
            return READS[kind_of(node)][0](*given)
    except RuntimeError as error:
        raise ReplayRefused(f"{kind_of(node).lower()} cannot be computed again ({type(error).__name__})") from None


def traced(node: Node, given: list[Any], frames: tuple[Frame, ...]) -> Birth | None:
    """The call once more, as a birth at these lines; None where no line is known or it is none."""
    tracker = OpTracker()
    for value, (before, _) in zip(given, node.next_functions, strict=False):
        if isinstance(value, Tensor) and before is not None:
            tracker.label(value, LEARNT)  # what carries a graph is no mask of zeros and ones
    tracer = OpTracer(observers=[tracker])
    with tracer, tracer.entry(0, frames):
        made = made_by(node, given)
    birth = find_birth(tracker, [("", made)]) if frames else None
    if birth is None or birth.op is None or deliberate(tracker, [("", made)]):
        return None
    named = (name for name, value in zip(READS[kind_of(node)][1], given, strict=True) if isinstance(value, Tensor))
    inputs = tuple(msgspec.structs.replace(one, name=name) for one, name in zip(birth.inputs, named, strict=False))
    return msgspec.structs.replace(birth, entry=None, rows=None, inputs=inputs)


def reached(end: Node) -> Iterator[Node]:
    """The nodes of a graph from which a bad value would come through to its end."""
    seen, queue = {end}, deque([end])
    while queue and len(seen) < MOST:
        node = queue.popleft()
        if kind_of(node) in READS:
            yield node
        before = node.next_functions if kind_of(node) in HANDS_ON else node.next_functions[: kind_of(node) == "Div"]
        for parent, _ in before:  # a bad divisor may end as a 0
            if parent is not None and parent not in seen:
                seen.add(parent)
                queue.append(parent)


def read_by(node: Node) -> list[Any] | None:
    """What a call has read; None where it is not all kept, was written since, was freed, or is made again when it is
    asked for (a checkpoint, an offload)."""
    given = []
    for name in READS[kind_of(node)][1]:
        try:
            raw = getattr(node, f"_raw_saved_{name}", None)
            if raw is not None and getattr(raw, "unpack_hook", name) is not None:
                return None
            value = getattr(node, f"_saved_{name}", None)
        except RuntimeError:
            return None
        if value is None:
            return None
        given.append(value.detach() if isinstance(value, Tensor) else value)
    return given


def has_bad(value: Any) -> bool:
    """Whether a tensor holds a value that is not finite; a number of Python's holds none."""
    return isinstance(value, Tensor) and is_bad(value, with_infinite=True)
