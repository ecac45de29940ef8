"""Reads the terms of the last sum of scalars before a backward, in inspected steps."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from debugtracer.trace.number import number

SIGNS = {
    "add": (1, 1), "__add__": (1, 1), "__radd__": (1, 1), "__iadd__": (1, 1), "sub": (1, -1), "__sub__": (1, -1),
    "__isub__": (1, -1), "rsub": (-1, 1), "__rsub__": (-1, 1),
}  # fmt: skip
MOST = 256  # numbers followed in a step (ours)


class Sum:
    """One sum of two numbers: copies of them, their signs and lines."""

    def __init__(self, terms: list[tuple[Tensor, int, RawFrames]], raw: RawFrames) -> None:
        self.terms, self.raw = terms, raw


class LossTermsObserver(Observer):
    """Copies scalars; reads them once, before the backward."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.made: dict[int, tuple[weakref.ref[Tensor], RawFrames, Sum | None]] = {}

    def reset(self) -> None:
        self.made.clear()

    def missed(self) -> None:
        """Forget the numbers of a step that was not seen to its end."""
        self.made.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a scalar with a graph, and what it is the sum of."""
        if not is_number(output) or len(self.made) >= MOST or not torch.is_grad_enabled():
            return
        signs = SIGNS.get(getattr(function, "__name__", ""))
        at = raw_frames(1)
        total = None
        if signs and len(args) == 2 and is_number(args[0]) and is_number(args[1]) and "alpha" not in kwargs:
            total = Sum([t for value, sign in zip(args, signs, strict=True) for t in self.terms_of(value, sign)], at)
        self.made[id(output)] = weakref.ref(output), at, total

    def terms_of(self, value: Tensor, sign: int) -> list[tuple[Tensor, int, RawFrames]]:
        """The terms that a number brings into a sum: those of a sum, or itself."""
        known = self.made.get(id(value))
        if known is None or known[0]() is not value:
            return [(value.detach().clone(), sign, ())]
        if known[2] is not None:
            return [(term, sign * other, raw) for term, other, raw in known[2].terms]
        return [(value.detach().clone(), sign, known[1])]

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the terms of the losses."""
        for loss in losses:
            known = self.made.get(id(loss))
            if known is None or known[0]() is not loss or known[2] is None or len(known[2].terms) > 16:
                continue
            values = torch.stack([term.reshape(()).double().cpu() for term, _, _ in known[2].terms]).tolist()
            terms = tuple(
                Term(value=number(value * sign), frame=frames_of(raw)[0] if raw else None)
                for value, (_, sign, raw) in zip(values, known[2].terms, strict=True)
            )
            self.run.emit(LossTerms(ref=self.run.ref(), terms=terms, frame=frames_of(known[1])[0]))
        self.made.clear()


def is_number(value: Any) -> bool:
    """Whether it is a floating tensor of one number with a graph."""
    return isinstance(value, Tensor) and value.numel() == 1 and value.grad_fn is not None and value.is_floating_point()
