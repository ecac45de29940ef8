"""Reads the terms of the last sum of scalars before a backward, in inspected steps."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.loss.reductions import Reduction, reduction_of, scaled
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from debugtracer.trace.number import number

SIGNS = {
    "add": (1, 1), "__add__": (1, 1), "__radd__": (1, 1), "__iadd__": (1, 1), "sub": (1, -1), "__sub__": (1, -1),
    "__isub__": (1, -1), "rsub": (-1, 1), "__rsub__": (-1, 1),
}  # fmt: skip
MOST = 256  # numbers followed in a step (ours)


class Part(NamedTuple):
    """One number of a sum: a copy of it, its sign, its line, and what it is the sum or the mean of."""

    value: Tensor
    sign: int
    raw: RawFrames
    reduction: Reduction | None


class Sum:
    """One sum of two numbers."""

    def __init__(self, parts: list[Part], raw: RawFrames) -> None:
        self.parts, self.raw = parts, raw


class Made(NamedTuple):
    """A number with a graph, its line, and what it is made of."""

    tensor: weakref.ref[Tensor]
    raw: RawFrames
    total: Sum | None
    reduction: Reduction | None


class LossTermsObserver(Observer):
    """Copies scalars; reads them once, before the backward."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.made: dict[int, Made] = {}

    def reset(self) -> None:
        self.made.clear()

    def missed(self) -> None:
        """Forget the numbers of a step that was not seen to its end."""
        self.made.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a scalar with a graph, and what it is the sum of."""
        if not is_number(output) or len(self.made) >= MOST or not torch.is_grad_enabled():
            return
        name = getattr(function, "__name__", "")
        signs = SIGNS.get(name)
        at = raw_frames(1)
        total = None
        if signs and len(args) == 2 and is_number(args[0]) and is_number(args[1]) and "alpha" not in kwargs:
            total = Sum([t for value, sign in zip(args, signs, strict=True) for t in self.parts_of(value, sign)], at)
        self.made[id(output)] = Made(weakref.ref(output), at, total, self.reduction(name, args, kwargs))

    def reduction(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Reduction | None:
        """What the output of a call is the sum or the mean of."""
        known = next((one for a in args if isinstance(a, Tensor) and (one := self.known(a)) is not None), None)
        if known is not None and known.reduction is not None:
            return scaled(known.reduction, name, args)
        return reduction_of(name, args, kwargs)

    def known(self, value: Tensor) -> Made | None:
        """What was noted of a number."""
        known = self.made.get(id(value))
        return known if known is not None and known.tensor() is value else None

    def parts_of(self, value: Tensor, sign: int) -> list[Part]:
        """The terms that a number brings into a sum: those of a sum, or itself."""
        known = self.known(value)
        if known is None:
            return [Part(value.detach().clone(), sign, (), None)]
        if known.total is not None:
            return [part._replace(sign=sign * part.sign) for part in known.total.parts]
        return [Part(value.detach().clone(), sign, known.raw, known.reduction)]

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the terms of the losses."""
        for loss in losses:
            known = self.known(loss)
            if known is None or known.total is None or len(known.total.parts) > 16:
                continue
            parts = known.total.parts
            values = torch.stack([part.value.reshape(()).double().cpu() for part in parts]).tolist()
            terms = tuple(
                Term(
                    value=number(value * part.sign), frame=frames_of(part.raw)[0] if part.raw else None,
                    reduction=part.reduction.how if part.reduction else "",
                    elements=part.reduction.elements if part.reduction else 0,
                    weight=number(abs(part.reduction.weight)) if part.reduction else None,
                )
                for value, part in zip(values, parts, strict=True)
            )  # fmt: skip
            self.run.emit(LossTerms(ref=self.run.ref(), terms=terms, frame=frames_of(known.raw)[0]))
        self.made.clear()


def is_number(value: Any) -> bool:
    """Whether it is a floating tensor of one number with a graph."""
    return isinstance(value, Tensor) and value.numel() == 1 and value.grad_fn is not None and value.is_floating_point()
