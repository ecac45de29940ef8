"""Looks at averages of weights made by hand (EMA, target networks): are both sides one tensor?"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.blended_copies import CLOSE, PRODUCTS, place
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.own_average import OwnAverage
from debugtracer.trace.number import number

SHARE = re.compile(r"1(?:\.0)?\s*-\s*(?:self\.)?(\w+)")  # `1 - decay`: the name of the weight


class WeighedTensor(NamedTuple):
    """A tensor times a number, by addresses."""

    at: int
    """Where the tensor lies."""
    shape: tuple[int, ...]
    weight: float
    lies: int
    """Where the product lies."""


class SelfAveragesObserver(Observer):
    """Hears the functions of inspected steps; keeps addresses, no tensor."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.last: WeighedTensor | None = None
        """The last product with a number."""
        self.halves: tuple[set[int], float, float, tuple[int, ...]] | None = None
        """Where the two products of an average of a tensor with itself lie, until the call that adds them up, with
        their numbers and the shape."""
        self.told = -1
        """The step in which one was told: one a step is enough."""

    def reset(self) -> None:
        self.last = self.halves = None

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take a product with a number, and the sum or the second product that makes an average of it."""
        name = getattr(function, "__name__", "")
        halves, self.halves = self.halves, None
        if name in ("add", "__add__", "__radd__") and halves is not None and {place(a) for a in args[:2]} == halves[0]:
            self.tell(*halves[1:])
        elif name in ("lerp", "lerp_") and len(args) > 1:
            weight = args[2] if len(args) > 2 else kwargs.get("weight")
            if isinstance(weight, float):
                self.compare(args[0], args[1], 1 - weight, weight)
        elif name == "add_" and len(args) > 1 and self.last is not None:
            alpha = kwargs.get("alpha", 1)
            at, shape, kept, _ = self.last
            plain = isinstance(args[0], Tensor) and not args[0].is_nested
            same = plain and (place(args[0]), tuple(args[0].shape)) == (at, shape)
            if same and isinstance(alpha, (int, float)):
                self.compare(args[0], args[1], kept, float(alpha))
            self.last = None
        elif name in PRODUCTS or name == "mul_":
            self.multiplied(name, args, output)

    def multiplied(self, name: str, args: tuple[Any, ...], output: Any) -> None:
        """Remember a product; the second of two whose sum would be an average is compared with the first."""
        pairs = (args[:2], args[1::-1]) if len(args) > 1 else ()
        tensor, weight = next(((a, b) for a, b in pairs if isinstance(a, Tensor)), (None, None))
        if tensor is None or tensor.is_nested or not isinstance(weight, (float, int)):
            self.last = None
            return
        before, self.last = self.last, WeighedTensor(place(tensor), tuple(tensor.shape), float(weight), place(output))
        if before is not None and name != "mul_" and before[:2] == self.last[:2]:
            numbers = before.weight, self.last.weight
            if self.averages(tensor, tensor, *numbers):
                self.halves = {before.lies, self.last.lies}, *numbers, before.shape

    def compare(self, one: Any, other: Any, kept: float, taken: float) -> None:
        """Emit an average of a tensor with itself, where it is a copy of a trained one."""
        if self.averages(one, other, kept, taken):
            self.tell(kept, taken, tuple(one.shape))

    def averages(self, one: Any, other: Any, kept: float, taken: float) -> bool:
        """Whether these are one tensor with the two weights of an average, a copy of a trained one."""
        if self.told == self.run.step or not isinstance(one, Tensor) or not isinstance(other, Tensor):
            return False
        if torch.is_grad_enabled() and (one.requires_grad or other.requires_grad):
            return False
        if abs(kept + taken - 1) > CLOSE or not 0 < taken < 1 or one.numel() < 2 or not place(one):
            return False
        return place(one) == place(other) and one.shape == other.shape and self.is_copy(one)

    def tell(self, kept: float, taken: float, shape: tuple[int, ...]) -> None:
        """Emit it, with the line."""
        self.told = self.run.step
        frames = frames_of(raw_frames(2))
        frame = frames[0] if frames else None
        self.run.emit(
            OwnAverage(
                ref=self.run.ref("update"), shape=shape, kept=number(kept), taken=number(taken),
                frame=frame, caller=frames[1] if len(frames) > 1 and has_two_sides(frame) else None,
            )
        )  # fmt: skip

    def is_copy(self, tensor: Tensor) -> bool:
        """Whether no optimizer holds it and one holds a parameter of its shape."""
        held = [p for optimizer in list(self.run.optimizers) for p in parameters(optimizer)]
        return all(place(p) != place(tensor) for p in held) and any(p.shape == tensor.shape for p in held)


def has_two_sides(frame: Frame | None) -> bool:
    """Whether a line names two things that it averages: they are one tensor because of what its function was given."""
    if frame is None or frame.function == "<module>":
        return False
    weights = set(SHARE.findall(frame.code))
    words = re.findall(
        r"(?<![\w.])[a-zA-Z_]\w*", re.sub(r"\bself\.\w+\s*\*|\*\s*self\.\w+|alpha\s*=.*", "", frame.code)
    )
    return len({w for w in words if w not in weights and w not in ("self", "torch")}) > 1
