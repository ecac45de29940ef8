"""Follows what a network says of the next state into a target: which rows does its mask leave it in?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.bootstrap_mask import BootstrapMask
from debugtracer.trace.facts.loss_call import ELEMENTWISE

# what hands the value of a row on, or chooses one of several
CARRIES = frozenset(
    {
        "max", "amax", "min", "amin", "minimum", "gather", "squeeze", "unsqueeze", "detach", "view", "reshape",
        "flatten", "__getitem__", "mean", "sum", "float", "to", "clone", "sub", "__sub__", "rsub", "__rsub__",
    }
)  # fmt: skip
ADDS = frozenset({"add", "__add__", "__radd__"})
MOST = 64  # tensors followed in a step (ours)
FEWEST = 8  # rows (ours)
LARGEST = 4_000_000  # numbers that are compared to find states again (ours)


class FollowedAnswer(NamedTuple):
    """A prediction, what it was made of, and what it was multiplied with."""

    tensor: WeakRef[Tensor]
    given: Tensor | None = None
    mask: Tensor | None = None
    raw: RawFrames = ()
    added: bool = False


class BootstrapMasksObserver(Observer):
    """Compares identities in inspected steps; keeps until the backward what networks were given, and masks."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.followed: dict[int, FollowedAnswer] = {}

    def reset(self) -> None:
        self.followed.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what a network answers."""
        if next(iter(module.parameters()), None) is not None:
            given = next((v.detach() for v in (*args, *kwargs.values()) if isinstance(v, Tensor)), None)
            for value in tensors(output):
                self.keep(FollowedAnswer(WeakRef(value), given), value)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow an answer to a product with a mask, to a sum, to a loss."""
        name = getattr(function, "__name__", "")
        if not self.followed or not args:
            return
        if name in ELEMENTWISE or name in DIFFERENCES:
            self.compared([*args[:2], kwargs.get("input"), kwargs.get("target")])
        if name in CARRIES:
            known = next((k for a in args[:2] if (k := self.find(a)) is not None), None)
            if known is not None:
                for value in tensors(output):
                    self.keep(known._replace(tensor=WeakRef(value)), value)
        elif name in PRODUCTS and isinstance(output, Tensor):
            self.multiply(args, output)
        elif name in ADDS and isinstance(output, Tensor):
            self.add(args, output)

    def find(self, value: Any) -> FollowedAnswer | None:
        """What is known of a tensor."""
        known = self.followed.get(id(value)) if isinstance(value, Tensor) else None
        return known if known is not None and known.tensor() is value else None

    def keep(self, known: FollowedAnswer, value: Tensor) -> None:
        """Remember a tensor by its identity."""
        if len(self.followed) < MOST or id(value) in self.followed:
            self.followed[id(value)] = known

    def multiply(self, args: tuple[Any, ...], output: Tensor) -> None:
        """Follow a product with a number, or with a mask of rows."""
        known = next((k for a in args[:2] if (k := self.find(a)) is not None), None)
        other = next((a for a in args[:2] if known is not None and a is not known.tensor()), None)
        if known is None or output.requires_grad or known.added:
            return
        if isinstance(other, (int, float)) or (isinstance(other, Tensor) and other.numel() == 1):
            self.keep(known._replace(tensor=WeakRef(output)), output)
        elif isinstance(other, Tensor) and known.mask is None and is_mask(other):
            made = known._replace(tensor=WeakRef(output), mask=other.detach(), raw=raw_frames(2))
            self.keep(made, output)

    def add(self, args: tuple[Any, ...], output: Tensor) -> None:
        """Follow a sum with what each row has earned."""
        known = next((k for a in args[:2] if (k := self.find(a)) is not None), None)
        other = next((a for a in args[:2] if known is not None and a is not known.tensor()), None)
        if known is None or known.mask is None or not isinstance(other, Tensor) or output.requires_grad:
            return
        if other.shape == known.mask.shape == output.shape and bool(other[known.mask != 0].any()):
            self.keep(known._replace(tensor=WeakRef(output), added=True), output)

    def compared(self, given: list[Any]) -> None:
        """Emit a target that a prediction is compared with."""
        target = next((k for value in given if (k := self.find(value)) is not None and k.added), None)
        if target is None or target.mask is None or not torch.is_grad_enabled():
            return
        said = next((value for value in given if isinstance(value, Tensor) and value.requires_grad), None)
        if said is None:
            return
        asked, mask = self.find(said), target.mask.flatten() != 0
        after, before = target.given, asked.given if asked is not None else None
        if after is None or before is None or after.shape != before.shape or after.shape[:1] != mask.shape:
            return  # it is not asked of states and of those after them
        again = found_again(after.reshape(len(mask), -1), before.reshape(len(mask), -1))
        self.run.emit(
            BootstrapMask(
                ref=self.run.ref(), rows=mask.numel(), kept=int(mask.sum()), kept_again=int((again & mask).sum()),
                again=int(again.sum()), masked=first(target.raw), frame=first(raw_frames(2)),
            )
        )  # fmt: skip

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Forget what was followed in the step."""
        self.reset()


def tensors(output: Any) -> Iterator[Tensor]:
    """The floating tensors that a call gives."""
    for value in output if isinstance(output, (tuple, list)) else (output,):
        if isinstance(value, Tensor) and value.is_floating_point() and value.dim():
            yield value


def found_again(after: Tensor, before: Tensor) -> Tensor:
    """Which rows of the one are rows of the other, but not of their own place: an episode went on from there."""
    rows = len(after)
    if after.numel() * rows > LARGEST:
        return torch.zeros(rows, dtype=torch.bool, device=after.device)
    same = (after[:, None] == before).all(2)
    return same.any(1) & ~same.diagonal()


def is_mask(value: Tensor) -> bool:
    """Whether each row has 0 or one other number, not above 1."""
    rows = value.numel()
    if value.requires_grad or rows < FEWEST or value.is_complex() or max(value.shape) != rows:
        return False
    top = value.max()
    return bool(((value == 0) | (value == top)).all()) and 0 < float(top) <= 1
