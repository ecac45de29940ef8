"""Follows random draws through an inspected step: is one of them a target and nothing else?"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.drawn_target import DrawnTarget
from debugtracer.trace.facts.loss_call import ELEMENTWISE

DRAWS = frozenset({"randn", "randn_like", "rand", "rand_like", "normal"})
LOOKS_ONLY = frozenset({"size", "dim", "requires_grad_"})
MOST = 64  # draws followed in a step (ours)
LONGEST = 32  # nodes between a loss and the comparison (ours)
SQUARES = ("Pow", "Abs", "LinalgVectorNorm", "Norm")
REDUCTIONS = ("Mean", "Sum", "Nansum")
SCALES = ("Mul", "Div", "Sqrt", "ToCopy", "View", "UnsafeView", "Reshape", "Squeeze", "Unsqueeze", "Clone")


class Draw:
    """One draw, and what has used it."""

    def __init__(self, tensor: Tensor, name: str, raw: RawFrames) -> None:
        self.tensor, self.name, self.raw = weakref.ref(tensor), name, raw
        self.uses = 0
        self.node: int | None = None
        """The number of the node of its comparison with a prediction."""
        self.loss = ""
        self.loss_raw: RawFrames = ()


class DrawnTargetsObserver(Observer):
    """Hears the functions of inspected steps; keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.draws: dict[int, Draw] = {}
        self.made: dict[int, tuple[WeakRef[Tensor], frozenset[Draw]]] = {}
        """What was computed of draws and data alone: no use of them before it reaches the model or a prediction."""
        self.whole: list[Draw] = []
        """Those whose comparison was all of a loss."""
        self.others = False
        """Whether another loss was handed to backward."""

    def reset(self) -> None:
        self.draws.clear()
        self.made.clear()
        self.whole, self.others = [], False

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a draw; count what uses one."""
        name = getattr(function, "__name__", "")
        if name in DRAWS and (name != "normal" or is_noise(args, kwargs)):
            drawn = isinstance(output, Tensor) and not output.requires_grad and output.numel() > 1
            if drawn and len(self.draws) < MOST:
                self.draws[id(output)] = Draw(output, name, raw_frames(1))
            return
        if not self.draws or name in LOOKS_ONLY or (name == "__get__" and not isinstance(output, Tensor)):
            return
        data = isinstance(output, Tensor) and not output.requires_grad and output.numel() > 1
        if writes(name, kwargs):
            data = False  # a view of another tensor may have been written: not followed
        self.used(args, kwargs, output if data else None)
        if name in DIFFERENCES or name in ELEMENTWISE:
            self.compared(name, [*args, *kwargs.values()], output)

    def used(self, args: tuple[Any, ...], kwargs: dict[str, Any], data: Tensor | None = None) -> None:
        """Count a use of each draw among the arguments, or remember what was made of them where that is `data`."""
        given = tensors([*args, *kwargs.values()])
        draws = frozenset(draw for value in given for draw in self.draws_in(value))
        if data is not None and draws and len(self.made) < MOST:
            self.made[id(data)] = WeakRef(data), draws
            return
        for draw in draws:
            draw.uses += 1

    def compared(self, name: str, given: list[Any], output: Any) -> None:
        """Note a draw that is compared with a prediction."""
        if not isinstance(output, Tensor) or output.grad_fn is None:
            return
        pair = [value for value in given if isinstance(value, Tensor)]
        for value in pair:
            draw = self.draws.get(id(value))
            if draw is not None and draw.tensor() is value and any(v.requires_grad for v in pair):
                draw.node = int(output.grad_fn._sequence_nr())
                draw.loss, draw.loss_raw = name, raw_frames(2)

    def draws_in(self, value: Tensor) -> frozenset[Draw]:
        """The draw that a tensor is, or those that it was made of."""
        draw = self.draws.get(id(value))
        if draw is not None and draw.tensor() is value:
            return frozenset({draw})
        made = self.made.get(id(value))
        return made[1] if made is not None and made[0]() is value else frozenset()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Count a draw that goes into a module as used; what a criterion does with it is heard function by function."""
        if self.draws and next(iter(module.parameters()), None) is not None:
            self.used(args, {})

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count one that was handed in by name."""
        if self.draws and kwargs and next(iter(module.parameters()), None) is not None:
            self.used((), kwargs)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note whether each loss is the comparison with a draw and nothing else: a term among others may be anything
        (a code drawn towards a distribution, the noisy labels of a judge)."""
        for loss in losses:
            found = [draw for draw in self.draws.values() if draw.node is not None and is_all(loss, draw.node)]
            self.whole += found
            self.others |= not found

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit the draw that was compared with a prediction and not used otherwise, where the step has no other
        loss."""
        lines = {first(draw.raw) for draw in self.whole}
        if len(lines) == 1 and not self.others and all(draw.uses == 1 for draw in self.whole):
            draw = self.whole[0]
            self.run.emit(
                DrawnTarget(
                    ref=self.run.ref(), draw=draw.name, frame=first(draw.raw), loss=draw.loss,
                    loss_frame=first(draw.loss_raw),
                )
            )  # fmt: skip
        self.reset()


def is_noise(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether `torch.normal` draws with mean 0 and deviation 1: another mean, or one for each sample, says something of
    the target."""
    told = {"mean": 0, "std": 1} | dict(zip(("mean", "std"), args, strict=False)) | kwargs
    return not isinstance(told["mean"], Tensor) and not isinstance(told["std"], Tensor) and (
        told["mean"], told["std"]
    ) == (0, 1)  # fmt: skip


def writes(name: str, kwargs: dict[str, Any]) -> bool:
    """Whether a function writes into a tensor that it was given."""
    in_place = name.endswith("_") and not name.startswith("__")
    return in_place or name.startswith("__i") or kwargs.get("out") is not None


def tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among arguments and in lists and dicts of them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, dict):
            yield from tensors(value.values())


def is_all(loss: Tensor, number: int) -> bool:
    """Whether a loss is the comparison of this number, squared or not yet reduced, and nothing else: the graph has one
    branch down to it. A difference that is not squared is no comparison (`p - u` samples a bit)."""
    node: Any = loss.grad_fn
    squared = reduced = False
    for _ in range(LONGEST):
        if node is None:
            return False
        name = type(node).__name__.partition("Backward")[0]
        if int(node._sequence_nr()) == number:
            return squared or name not in ("Sub", "Rsub")
        children = [child for child, _ in node.next_functions if child is not None]
        if len(set(children)) != 1:
            return False
        squared |= name in SQUARES or (name == "Mul" and len(children) == 2)
        reduced |= name in REDUCTIONS
        # a number may be added to the scalar; what is added to the elements would be the true target
        if name not in SQUARES + REDUCTIONS + SCALES and (reduced or name not in ("Add", "Sub")):
            return False
        node = children[0]
    return False
