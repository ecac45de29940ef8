"""Looks at averages of weights made by hand (EMA, target networks): is the result ever written?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.blended_copy import BlendedCopy
from debugtracer.trace.number import number

PRODUCTS = frozenset({"mul", "__mul__", "__rmul__", "multiply"})
LOOKS = 2  # inspected steps in which it must be seen (ours)
MOST_WOULD = 0.5  # share of elements that a write would have changed (ours: a slow average in few bits stands still)
MOST = 4  # copies that are followed (ours)
ELEMENTS = 2**16  # of one; a larger one is passed over for its smaller neighbours (ours)
CLOSE = 1e-6  # of the sum of two weights to 1


class Weighted:
    """A tensor times a number, the last one seen."""

    def __init__(self, tensor: Tensor, weight: float) -> None:
        self.tensor, self.weight = tensor, weight


class CopyLook:
    """One copy, and what it and its parameter were at the first look."""

    def __init__(self, copy: Tensor, param: Tensor, name: str, weights: tuple[float, float]) -> None:
        self.copy, self.name, self.weights = copy.detach(), name, weights
        self.copy_then, self.param_then = copy.detach().clone(), param.detach().clone()
        self.steps: set[int] = set()


class BlendedCopiesObserver(Observer):
    """Hears the functions of inspected steps; holds four small tensors until it has decided."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.last: Weighted | None = None
        self.looks: dict[int, CopyLook] = {}
        """Storage of the copy -> what was seen of it."""
        self.names: dict[int, str] = {}
        """Storage of each parameter -> its path; of the step in flight."""
        self.step = -1

    def reset(self) -> None:
        self.last = None
        self.looks.clear()
        self.names.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take a product with a number, or a lerp, of a leaf without a graph."""
        name = getattr(function, "__name__", "")
        if name not in PRODUCTS and name != "lerp":
            return
        if name == "lerp":
            weight = args[2] if len(args) > 2 else kwargs.get("weight")
            if len(args) > 1 and isinstance(weight, float) and not torch.is_grad_enabled():
                self.blended(Weighted(args[0], 1 - weight), Weighted(args[1], weight))
            return
        pairs = (args[:2], args[1::-1]) if len(args) > 1 else ()
        tensor, weight = next(((a, b) for a, b in pairs if isinstance(a, Tensor)), (None, None))
        if tensor is None or tensor.is_nested or getattr(output, "requires_grad", True):
            tensor = None
        if tensor is None or not isinstance(weight, (float, int)):
            self.last = None
            return
        before, self.last = self.last, Weighted(tensor, float(weight))
        if before is not None and before.tensor.shape == tensor.shape:
            self.blended(before, self.last)

    def blended(self, one: Weighted, other: Weighted) -> None:
        """Take two of one shape whose weights add up to 1; one of them is a parameter that is trained."""
        if abs(one.weight + other.weight - 1) > CLOSE or not 0 < one.tensor.numel() <= ELEMENTS:
            return
        trained = self.trained()
        for copy, param in ((one, other), (other, one)):
            name = trained.get(place(param.tensor))
            if name is not None and place(copy.tensor) not in trained and torch.is_tensor(copy.tensor):
                return self.look(copy, param, name)

    def trained(self) -> dict[int, str]:
        """The parameters that the optimizers hold, by where they lie."""
        if self.step != self.run.step:
            self.step = self.run.step
            paths = self.run.names()
            self.names = {
                place(p): paths.get(id(p), "")
                for optimizer in list(self.run.optimizers)
                for group in optimizer.param_groups
                for p in group["params"]
            }
        return self.names

    def look(self, copy: Weighted, param: Weighted, name: str) -> None:
        """Compare with the first look; where one moves, averages are written here and none is followed any longer."""
        key = place(copy.tensor)
        seen = self.looks.get(key)
        if seen is None:
            if len(self.looks) < MOST:
                self.looks[key] = CopyLook(copy.tensor, param.tensor, name, (copy.weight, param.weight))
                self.looks[key].steps.add(self.run.step)
            return
        seen.steps.add(self.run.step)
        moved = not torch.equal(copy.tensor.detach(), seen.copy_then)
        if moved or len(seen.steps) < LOOKS or not would_move(copy, param):
            if moved:
                self.run.unsubscribe(self.called)
                self.reset()
            return
        apart = float((param.tensor.detach() - seen.param_then).norm() / seen.param_then.norm().clamp_min(1e-30))
        if apart > 0:
            self.tell(seen, self.run.here(), apart)
            self.run.unsubscribe(self.called)
            self.reset()

    def tell(self, seen: CopyLook, frame: Frame | None, apart: float) -> None:
        """Emit a copy that does not move."""
        self.run.emit(
            BlendedCopy(
                ref=self.run.ref("update"), param=seen.name, kept=number(seen.weights[0]),
                taken=number(seen.weights[1]), frame=frame, looks=len(seen.steps), moved=number(apart),
            )
        )  # fmt: skip


def would_move(copy: Weighted, param: Weighted) -> bool:
    """Whether the average, written to the copy, changes it; where the parameter has the weight 0, the two exchanged."""
    held, new = copy.tensor.detach(), param.tensor.detach()
    written = new if param.weight == 0 else (copy.weight * held + param.weight * new).to(held.dtype)
    return float((written != held).double().mean()) >= MOST_WOULD


def place(tensor: Any) -> int:
    """Where a tensor lies, the same for `p` and `p.data`; 0 for none."""
    return int(tensor.data_ptr()) if isinstance(tensor, Tensor) and tensor.layout is torch.strided else 0
