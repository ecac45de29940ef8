"""Looks at both sides of a loss that draws two outputs together: do both have a graph, and are their rows alike?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import has_graph
from debugtracer.observers.loss.reductions import PRODUCTS
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.compared_views import ComparedViews
from debugtracer.trace.facts.loss_call import ELEMENTWISE
from debugtracer.trace.number import number

COMPARE = ELEMENTWISE | {"cosine_similarity"}
LEAST = 4  # rows of a side (ours: fewer point one way by chance)
MOST = 4  # comparisons of a step (ours)
WIDTH = 1 << 16  # numbers of a side that are read (ours)


class Pair(NamedTuple):
    """One comparison of a step."""

    function: str
    raw: RawFrames
    rows: int
    alike: Tensor
    """Of both sides."""


class ComparedViewsObserver(Observer):
    """Reads values once before the backward of an inspected step; keeps one number a side until then."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.pairs: list[Pair] = []
        self.unit: dict[int, WeakRef[Tensor]] = {}
        """Outputs of normalize in this step, with a graph."""

    def reset(self) -> None:
        self.missed()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.pairs.clear()
        self.unit.clear()

    @inspected
    @of_functions({"normalize"}, COMPARE, PRODUCTS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a comparison of two outputs with a graph."""
        name = getattr(function, "__name__", "")
        if name == "normalize" and is_side(output):
            self.unit[id(output)] = WeakRef(output)
        elif name in COMPARE or name in PRODUCTS:
            sides = [value for value in (*args[:2], *kwargs.values()) if isinstance(value, Tensor)][:2]
            if len(sides) < 2 or len(self.pairs) >= MOST or not all(map(is_side, sides)):
                return
            if sides[0] is sides[1] or sides[0].shape != sides[1].shape:
                return
            # a product of two normalised outputs is a cosine written by hand
            if name in PRODUCTS and not all(map(self.is_unit, sides)):
                return
            directions = name == "cosine_similarity" or name in PRODUCTS
            self.pairs.append(Pair(name, raw_frames(1), sides[0].shape[0], alike(sides, directions)))

    def is_unit(self, value: Tensor) -> bool:
        """Whether it came out of normalize in this step."""
        known = self.unit.get(id(value))
        return known is not None and known() is value

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what was compared in the step."""
        for pair in self.pairs:
            least, most = sorted(pair.alike.tolist())
            self.run.emit(
                ComparedViews(
                    ref=self.run.ref(), function=pair.function, frame=frames_of(pair.raw)[0], rows=pair.rows,
                    alike=number(least), most_alike=number(most),
                )
            )  # fmt: skip
        self.missed()


def is_side(value: Any) -> bool:
    """Whether it is a plain batch of vectors with a graph."""
    return (
        type(value) is Tensor
        and has_graph(value)
        and is_dense(value)
        and value.dim() == 2
        and value.is_floating_point()
        and value.shape[0] >= LEAST
        and value.shape[1] > 1
        and value.numel() <= WIDTH
    )


def alike(sides: list[Tensor], directions: bool) -> Tensor:
    """The mean product of different rows of each side, of their directions or against their mean square."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        found = []
        for side in sides:
            rows = side.detach().float()
            rows = F.normalize(rows, dim=1) if directions else rows / rows.norm(dim=1).square().mean().sqrt()
            count = rows.shape[0]
            found.append((rows.sum(0).square().sum() - count) / (count * (count - 1)))
        return torch.stack(found)
