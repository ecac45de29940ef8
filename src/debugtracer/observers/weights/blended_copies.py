"""Looks at averages of weights made by hand (EMA, target networks): is the result ever written?"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.blended_copy import BlendedCopy
from debugtracer.trace.number import number

PRODUCTS = frozenset({"mul", "__mul__", "__rmul__", "multiply"})
BLENDS = frozenset({"lerp", "lerp_"})
IN_PLACE = frozenset({"mul_", "__imul__"})
SUMS = frozenset({"add_", "sub_"})
LOOKS = 2  # inspected steps in which it must be seen (ours)
MOST_WOULD = 0.5  # share of elements that a write would have changed (ours: a slow average in few bits stands still)
NEARLY_ALL = 0.9  # share of the parameter above which an average keeps nothing (ours: those that are meant keep half)
RUNNING = 2  # updates running in which it is so: those after which an inspected step begins at the start (ours)
MOST = 4  # copies that are followed (ours)
ELEMENTS = 2**16  # of one; a larger one is passed over for its smaller neighbours (ours)
CLOSE = 1e-6  # of the sum of two weights to 1


class Weighted:
    """A tensor times a number, the last one seen; `written` where the product was written to it."""

    def __init__(self, tensor: Tensor, weight: float, written: bool = False) -> None:
        self.tensor, self.weight, self.written = tensor, weight, written


class CopyLook:
    """One copy, and what it and its parameter were at the first look."""

    def __init__(self, copy: Tensor, param: Tensor, name: str, weights: tuple[float, float]) -> None:
        self.copy, self.name, self.weights = copy.detach(), name, weights
        self.copy_then, self.param_then = copy.detach().clone(), param.detach().clone()
        self.steps: set[int] = set()
        self.steady = True
        """The two weights were the same each time."""

    @property
    def forgets(self) -> bool:
        """Whether it takes over nearly all of the parameter, and not all."""
        return self.steady and NEARLY_ALL < self.weights[1] < 1

    @property
    def running(self) -> bool:
        """Whether it was written in enough updates running."""
        return len(self.steps) >= RUNNING and max(self.steps) - min(self.steps) == len(self.steps) - 1


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
        self.stepping: set[CodeType] = set()
        """The functions on the stack of the last update."""
        self.stepped: ById[Optimizer, bool] = ById()
        """Optimizers that were seen to step."""

    def reset(self) -> None:
        self.last = None
        self.looks.clear()
        self.names.clear()
        self.stepping = set()
        self.stepped.clear()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Note the functions that a training step is made in: who calls them averages nothing."""
        self.stepped[optimizer] = True
        self.stepping = {code for code, _ in raw_frames(2)}

    @of_functions(BLENDS, SUMS, PRODUCTS, IN_PLACE)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take a product with a number, or a lerp, of a leaf without a graph."""
        name = getattr(function, "__name__", "")
        if name in BLENDS:
            weight = args[2] if len(args) > 2 else kwargs.get("weight")
            if len(args) > 1 and isinstance(weight, float) and not torch.is_grad_enabled():
                self.blended(Weighted(args[0], 1 - weight, name == "lerp_"), Weighted(args[1], weight))
        elif name in SUMS:
            alpha, before = kwargs.get("alpha"), self.last
            if len(args) > 1 and isinstance(alpha, float) and before is not None and before.written:
                self.added(before, args, alpha if name == "add_" else -alpha)
        elif name in PRODUCTS or name in IN_PLACE:
            self.multiplied(name, args, output)

    def added(self, before: Weighted, args: tuple[Any, ...], weight: float) -> None:
        """Take what is added to a tensor that was multiplied in place just before."""
        if isinstance(args[1], Tensor) and place(args[0]) == place(before.tensor) and args[1].shape == args[0].shape:
            self.blended(before, Weighted(args[1], weight))

    def multiplied(self, name: str, args: tuple[Any, ...], output: Any) -> None:
        """Take a product; with that before it, where both are of one shape."""
        pairs = (args[:2], args[1::-1]) if len(args) > 1 else ()
        tensor, weight = next(((a, b) for a, b in pairs if isinstance(a, Tensor)), (None, None))
        if tensor is None or tensor.is_nested or (getattr(output, "requires_grad", True) and name not in IN_PLACE):
            tensor = None
        if tensor is None or not isinstance(weight, (float, int)):
            self.last = None
            return
        before, self.last = self.last, Weighted(tensor, float(weight), name in IN_PLACE)
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
                held_near = param.written or copy.weight < param.weight
                if not held_near or is_weight_of(copy.tensor, self.run.modules()):
                    self.look(copy, param, name)
                return

    def trained(self) -> dict[int, str]:
        """The parameters that are trained, by where they lie: a target network may have an optimizer, too, that never
        steps."""
        if self.step != self.run.step:
            self.step = self.run.step
            paths = self.run.names()
            self.names = {
                place(p): paths.get(id(p), "")
                for optimizer in list(self.run.optimizers)
                if optimizer.state or optimizer in self.stepped
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
        seen.steady = seen.steady and seen.weights == (copy.weight, param.weight)
        if not torch.equal(copy.tensor.detach(), seen.copy_then):
            self.moved(seen)
            return
        if len(seen.steps) < LOOKS or not would_move(copy, param):
            return
        apart = float((param.tensor.detach() - seen.param_then).norm() / seen.param_then.norm().clamp_min(1e-30))
        if apart > 0:
            self.tell(seen, raw_frames(2), apart, param.written)
            self.run.unsubscribe(self.called, self.step_closed)
            self.reset()

    def moved(self, seen: CopyLook) -> None:
        """Follow one that takes over nearly all each time, until it is certain; none of the others."""
        if seen.forgets and not seen.running and len(seen.steps) < RUNNING:
            return
        if seen.forgets and seen.running:
            self.tell(seen, raw_frames(3), 0.0, written=False, forgets=True)
        self.run.unsubscribe(self.called, self.step_closed)
        self.reset()

    def tell(self, seen: CopyLook, raw: RawFrames, apart: float, written: bool, forgets: bool = False) -> None:
        """Emit a copy that does not move, with the line that calls the function that averages, if it is one."""
        stack = frames_of(raw)
        frame = stack[0] if stack else None
        caller = stack[1] if len(stack) > 1 and self.stepping and raw[0][0] not in self.stepping else None
        self.run.emit(
            BlendedCopy(
                ref=self.run.ref("update"), param=seen.name, kept=number(seen.weights[0]),
                taken=number(seen.weights[1]), frame=frame, looks=len(seen.steps), moved=number(apart),
                called=caller, written=written, forgets=forgets,
            )
        )  # fmt: skip


def would_move(copy: Weighted, param: Weighted) -> bool:
    """Whether the average, written to the copy, changes it; where the parameter has the weight 0, the two exchanged."""
    held, new = copy.tensor.detach(), param.tensor.detach()
    written = new if param.weight == 0 else (copy.weight * held + param.weight * new).to(held.dtype)
    return float((written != held).double().mean()) >= MOST_WOULD


def is_weight_of(tensor: Tensor, roots: Iterable[nn.Module]) -> bool:
    """Whether a tensor is a weight of one of these networks: what weights are held near to is none of a network that
    is called."""
    return any(place(p) == place(tensor) for root in roots for p in root.parameters())


def place(tensor: Any) -> int:
    """Where a tensor lies, the same for `p` and `p.data`; 0 for none."""
    return int(tensor.data_ptr()) if isinstance(tensor, Tensor) and tensor.layout is torch.strided else 0
