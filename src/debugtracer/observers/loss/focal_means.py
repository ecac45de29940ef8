"""Finds a loss over many rows that is reduced to its mean before a power of 1 - exp(-loss) weighs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.argument_origin import object_built
from debugtracer.errors import guarded
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.focal_mean import FocalMean
from debugtracer.trace.facts.loss_call import BINARY, INDEXED

LOSSES = INDEXED | BINARY
TURNS = frozenset({"neg", "__neg__", "negative"})
# what makes a weight of a probability: 1 - p, a power
WEIGHS = frozenset({"rsub", "__rsub__", "sub", "__sub__", "pow", "__pow__", "clamp", "add", "__add__", "__radd__"})
MODULES = frozenset({"CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss"})
FEWEST = 2  # rows of a mean
MOST = 64  # tensors followed in a step (ours)


class MeanPart(NamedTuple):
    """A number that was made of a mean loss: the loss, its negative, its exponential or a weight."""

    tensor: Callable[[], Tensor | None]
    what: str
    loss: str
    number: int
    """Of the call."""
    rows: int
    lines: tuple[RawFrames, ...]
    """Of the loss, and of the exponential."""
    module: str = ""
    """The class of torch's that called the loss."""


class FocalMeansObserver(Observer):
    """Follows single numbers in inspected steps; reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.parts: dict[int, MeanPart] = {}
        self.told: set[RawFrames] = set()
        self.number = 0
        """Calls of losses so far."""

    def reset(self) -> None:
        self.parts.clear()
        self.told.clear()

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what one function made of what."""
        name = getattr(function, "__name__", "")
        if not isinstance(output, Tensor) or not output.requires_grad or output.numel() != 1 or not args:
            return
        if name in LOSSES:
            rows = int(args[0].shape[0]) if isinstance(args[0], Tensor) and args[0].dim() else 1
            if rows >= FEWEST:
                self.number += 1
                running = running_module()
                kind = type(running).__name__ if running is not None else ""
                self.follow(output, MeanPart(WeakRef(output), "loss", name, self.number, rows, (raw_frames(2),), kind))
        elif self.parts:
            self.passed(name, [part for one in args if (part := self.find(one)) is not None], output)

    def passed(self, name: str, given: list[MeanPart], output: Tensor) -> None:
        """Follow a mean loss on its way to a weight, and tell the product of the two."""
        kinds = {part.what: part for part in given}
        weight, mean = kinds.get("weight"), kinds.get("loss", kinds.get("negative"))
        if name in PRODUCTS and weight is not None and mean is not None and weight.number == mean.number:
            self.tell(weight)
        elif len(given) != 1:
            return
        elif name in TURNS and given[0].what in ("loss", "negative"):
            self.become(output, given[0], "negative" if given[0].what == "loss" else "loss")
        elif name == "exp" and given[0].what == "negative":
            self.become(output, given[0]._replace(lines=(given[0].lines[0], raw_frames(3))), "probability")
        elif name in WEIGHS and given[0].what in ("probability", "weight"):
            self.become(output, given[0], "weight")
        elif name in PRODUCTS and given[0].what in ("loss", "negative", "weight"):
            self.become(output, given[0], given[0].what)

    def tell(self, weight: MeanPart) -> None:
        """Emit the product of one line."""
        raw = raw_frames(3)
        if raw in self.told or not torch.is_grad_enabled():
            return
        self.told.add(raw)
        calls = frames_of(weight.lines[0])
        built = guarded("focal_means.built")(object_built)(calls, weight.module) if weight.module in MODULES else None
        self.run.emit(
            FocalMean(
                ref=self.run.ref(), loss=weight.loss, rows=weight.rows, frame=first(weight.lines[0]), built=built,
                exp_frame=first(weight.lines[-1]), product_frame=first(raw),
            )
        )  # fmt: skip

    def become(self, output: Tensor, part: MeanPart, what: str) -> None:
        """Remember what a part has become."""
        self.follow(output, part._replace(tensor=WeakRef(output), what=what))

    def find(self, value: Any) -> MeanPart | None:
        """What is known of a tensor."""
        part = self.parts.get(id(value)) if isinstance(value, Tensor) else None
        return part if part is not None and part.tensor() is value else None

    def follow(self, value: Tensor, part: MeanPart) -> None:
        """Remember what a number is."""
        if len(self.parts) < MOST:
            self.parts[id(value)] = part

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.parts.clear()
