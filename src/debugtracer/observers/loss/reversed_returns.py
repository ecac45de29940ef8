"""Follows lists that were filled from the end to their product with what a model said from the begin on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames, user_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.backward_list import filled_from_the_end
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.reversed_returns import ReversedReturns

MAKERS = frozenset({"tensor", "as_tensor"})
KEEPS = frozenset(
    {
        "sub", "__sub__", "div", "__truediv__", "true_divide", "add", "__add__", "mul", "__mul__", "neg", "detach",
        "to", "float", "double", "cuda", "clone", "unsqueeze", "squeeze", "view", "reshape",
    }
)  # fmt: skip
JOINS = ("StackBackward", "CatBackward")
FEWEST, MOST = 4, 4096  # steps of an episode (ours)
LISTS = 16  # lists looked up in the source in a run (ours)
LINKS = 12  # graph nodes of one step that are followed (ours)


class Mark(NamedTuple):
    """Numbers from the last to the first, or one of them by its place."""

    frame: Frame
    place: int | None = None


class ReversedReturnsObserver(Observer):
    """Hears the functions of inspected steps; reads the source of a list once and no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.marks: ById[Tensor, Mark] = ById()
        self.pairs: list[tuple[int, int]] = []
        """Places of returns, and when the other factor was computed."""
        self.last: tuple[Frame, RawFrames] | None = None
        self.lists = 0

    def reset(self) -> None:
        self.marks.data.clear()
        self.pairs.clear()
        self.last = None

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Mark a tensor made of such a list, hand the mark on, and note products."""
        name = getattr(function, "__name__", "")
        if name in MAKERS:
            self.made(name, args, output)
        if not self.marks:
            return
        if name in PRODUCTS and len(args) > 1:
            self.multiplied(args[0], args[1])
            self.multiplied(args[1], args[0])
        mark = next((m for a in args[:2] if isinstance(a, Tensor) and (m := self.marks.get(a)) is not None), None)
        if mark is None:
            return
        if name in ("unbind", "__iter__") and isinstance(output, (list, tuple)):
            for place, one in enumerate(output):
                self.marks[one] = Mark(mark.frame, place)
        elif name in KEEPS and isinstance(output, Tensor) and not output.requires_grad:
            largest = max(a.numel() for a in args[:2] if isinstance(a, Tensor))
            if output.numel() == largest:
                self.marks[output] = mark

    def made(self, name: str, args: tuple[Any, ...], output: Any) -> None:
        """Mark a tensor of numbers that a list was filled with from the end."""
        given = args[0] if args else None
        if not isinstance(output, Tensor) or not isinstance(given, Sequence) or self.lists >= LISTS:
            return
        if output.dim() == 1 and FEWEST <= output.numel() <= MOST and output.is_floating_point():
            self.lists += 1
            frame = filled_from_the_end(user_frames(2), name)
            if frame is not None:
                self.marks[output] = Mark(frame)

    def multiplied(self, factor: Any, other: Any) -> None:
        """Note the product of a marked number with one that has a graph."""
        mark = self.marks.get(factor) if isinstance(factor, Tensor) else None
        if mark is None or not isinstance(other, Tensor) or not other.requires_grad:
            return
        if mark.place is not None:
            self.pairs.append((mark.place, begun(other.grad_fn)))
        elif (times := joined(other.grad_fn)) and len(times) == factor.numel() == other.numel():
            self.pairs = list(enumerate(times))
        self.last = mark.frame, raw_frames(3)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit returns of which the first belongs to what was computed first: they stand the other way round."""
        times = [time for _, time in sorted(self.pairs)]
        rising = all(one < other for one, other in pairwise(times))
        once = len({place for place, _ in self.pairs}) == len(times)
        if self.last is not None and len(times) >= FEWEST and rising and once:
            frame, raw = self.last
            self.run.emit(ReversedReturns(ref=self.run.ref(), frame=frame, loss_frame=first(raw), steps=len(times)))
        self.reset()


def begun(node: Any) -> int:
    """Tell when the first operator behind a value was called, as autograd counts them."""
    earliest = -1
    for _ in range(LINKS):
        if node is None or node.name().endswith("AccumulateGrad"):
            break
        number = int(node._sequence_nr())
        earliest = number if earliest < 0 else min(earliest, number)
        node = next((n for n, _ in node.next_functions if n is not None and not is_leaf(n)), None)
    return earliest


def is_leaf(node: Any) -> bool:
    """True for the node at which a gradient is gathered."""
    return str(node.name()).endswith("AccumulateGrad")


def joined(node: Any) -> list[int]:
    """Tell when the parts of a joined tensor were begun, in their order; nothing for one that was not joined."""
    for _ in range(LINKS):
        if node is None:
            return []
        if str(node.name()).startswith(JOINS):
            return [begun(n) for n, _ in node.next_functions]
        node = node.next_functions[0][0] if node.next_functions else None
    return []
