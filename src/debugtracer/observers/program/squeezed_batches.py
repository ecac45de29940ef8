"""Hears which shapes are squeezed without a dimension, and looks, when the program dies, whether the line at which it
does takes one that has lost a dimension it had in other steps."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from debugtracer.callsites.failing_expression import failing_expression
from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.trace.facts.raised_expression import SqueezedBatch

MOST = 64  # lines of a program (ours)
NODES = 256  # of the graph behind a value (ours)
OF_SHAPES = (IndexError, RuntimeError, ValueError, TypeError, AssertionError)
"""What is raised about a shape."""


class Squeezed(NamedTuple):
    """A line that squeezes, a shape that it was given, and the dimension that is gone."""

    raw: RawFrames
    given: tuple[int, ...]
    usual: tuple[int, ...]
    lost: int


class SqueezedBatchesObserver(Observer):
    """Keeps shapes and lines; the graph is walked when the program is over."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.shapes: dict[RawFrames, tuple[int, ...]] = {}
        """Line -> the last shape that was squeezed there."""
        self.floating: dict[RawFrames, bool] = {}
        """Line -> whether what was squeezed there was floating."""

    def reset(self) -> None:
        self.shapes.clear()
        self.floating.clear()

    @of_functions({"squeeze"})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a shape that is squeezed without a dimension."""
        if getattr(function, "__name__", "") == "squeeze" and len(args) == 1 and not kwargs and len(self.shapes) < MOST:
            at = raw_frames(1)[:1]
            self.shapes[at], self.floating[at] = tuple(args[0].shape), args[0].is_floating_point()

    def crashed(self, error: BaseException) -> None:
        """Emit a value of the failing line that lost a dimension."""
        failing = failing_expression(error) if self.shapes and isinstance(error, OF_SHAPES) else None
        for name, value in failing.given() if failing is not None else ():
            found = self.of(value) if isinstance(value, Tensor) else None
            if failing is not None and found is not None:
                self.run.emit(
                    SqueezedBatch(
                        ref=crash_ref(self.run, fetching=False), name=name, given=found.given, usual=found.usual,
                        lost=found.lost, frame=first(found.raw), symptom=failing.frames[0],
                    )
                )  # fmt: skip
                return

    def of(self, value: Tensor) -> Squeezed | None:
        """The squeeze that a value comes from, by its graph; else the one line that would have given its shape."""
        for given in squeezed_before(value):
            like = [one for raw, usual in self.shapes.items() if (one := lost_of(raw, given, usual)) is not None]
            if len(like) == 1:
                return like[0]
        shape = tuple(value.shape)
        alike = [
            one
            for raw, usual in self.shapes.items()
            if self.floating[raw] == value.is_floating_point()  # labels are made elsewhere than features
            for shorter in shortened(usual)
            if tuple(s for s in shorter if s != 1) == shape and (one := lost_of(raw, shorter, usual)) is not None
        ]
        if node_of(value) is not None:
            return None
        return alike[0] if len(alike) == 1 else self.of_one_row(value)

    def of_one_row(self, value: Tensor) -> Squeezed | None:
        """The only line that squeezes whole batches, where a batch of one row was fetched last and this is no row of a
        batch any more: without a graph, layers may lie between."""
        batch = self.run.batches.last()
        if batch is None or batch.rows != 1 or value.shape[:1] == (1,) or not value.is_floating_point():
            return None
        whole = [(raw, usual) for raw, usual in self.shapes.items() if usual and usual[0] > 1]
        return Squeezed(whole[0][0], (1, *whole[0][1][1:]), whole[0][1], 0) if len(whole) == 1 else None


def lost_of(raw: RawFrames, given: tuple[int, ...], usual: tuple[int, ...]) -> Squeezed | None:
    """What a line took away from a shape, and not from the usual one of as many dimensions."""
    if len(given) != len(usual) or any(u == 1 and g != 1 for g, u in zip(given, usual, strict=True)):
        return None
    lost = [d for d, (g, u) in enumerate(zip(given, usual, strict=True)) if g == 1 and u > 1]
    return Squeezed(raw, given, usual, lost[0]) if lost else None


def shortened(usual: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A shape with 1 in the place of each of its longer dimensions."""
    return [(*usual[:d], 1, *usual[d + 1 :]) for d, length in enumerate(usual) if length > 1]


def squeezed_before(value: Tensor) -> list[tuple[int, ...]]:
    """The shapes that were squeezed without a dimension on the way to a value, nearest first."""
    stack, found = [node_of(value)], []
    seen = set(stack)
    while stack and len(seen) < NODES:
        node = stack.pop(0)
        if node is not None and node.name() == "SqueezeBackward0":
            found.append(tuple(node._saved_self_sym_sizes))
        for child, _ in node.next_functions if node is not None else ():
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return found
