"""Reads the terms of the last sum of scalars before a backward, in inspected steps."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import has_graph
from debugtracer.observers.loss.reductions import CHANGES, Reduction, reduced, reduction_of, scaled
from debugtracer.observers.loss.row_spread import row_spread
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from debugtracer.trace.number import Number, number

SIGNS = {
    "add": (1, 1), "__add__": (1, 1), "__radd__": (1, 1), "__iadd__": (1, 1), "sub": (1, -1), "__sub__": (1, -1),
    "__isub__": (1, -1), "rsub": (-1, 1), "__rsub__": (-1, 1),
}  # fmt: skip
POWERS = frozenset({"pow", "__pow__", "square", "abs"})
STEPS = CHANGES | LOSSES | POWERS | SIGNS.keys() | {"sum", "mean"}  # calls whose output may become a term
MOST = 256  # numbers followed in a step (ours)
ONE = Reduction("sum", 1, 1.0)


class Part(NamedTuple):
    """One number of a sum: a copy of it, its sign, its line, what it is the sum or the mean of, and how far what it
    compares differs from row to row."""

    value: Tensor
    sign: int
    raw: RawFrames
    reduction: Reduction | None
    spread: Tensor | None

    def times(self, factor: float) -> Part:
        """The same number multiplied."""
        reduction = self.reduction._replace(weight=self.reduction.weight * factor) if self.reduction else None
        return self._replace(value=self.value * factor, reduction=reduction)


class Sum:
    """One sum of two numbers."""

    def __init__(self, parts: list[Part], raw: RawFrames) -> None:
        self.parts, self.raw = parts, raw


class Made(NamedTuple):
    """A number with a graph or a tensor that is reduced in part, its line, and what it is made of."""

    tensor: weakref.ref[Tensor]
    raw: RawFrames
    total: Sum | None
    reduction: Reduction | None
    spread: Tensor | None


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
        """Note a scalar with a graph, and what it is the sum of; and a tensor that may become one."""
        if not torch.is_grad_enabled() or len(self.made) >= MOST or not is_differentiable(output):
            return
        name = getattr(function, "__name__", "")
        if output.numel() != 1:
            if name in STEPS:
                self.noted(name, args, kwargs, output)
            return
        total = self.total(name, args, kwargs, output)
        reduction, spread = self.reduction(name, args, kwargs, output)
        at = self.reduced_at(args) or raw_frames(1)
        self.made[id(output)] = Made(weakref.ref(output), at, total, reduction, spread)

    def total(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> Sum | None:
        """The sum that a call makes of two numbers, or of two tensors that are reduced alike; a sum that it multiplies
        or reduces further."""
        signs = SIGNS.get(name)
        if signs and len(args) == 2 and all(map(is_differentiable, args)) and "alpha" not in kwargs:
            known = [self.known(value) for value in args]
            if output.numel() == 1 or all(one is not None and one.reduction is not None for one in known):
                parts = [p for value, sign in zip(args, signs, strict=True) for p in self.parts_of(value, sign)]
                return Sum(parts, raw_frames(2))
        if name in ("sum", "mean"):
            return self.reduced_sum(name, args, output)
        return self.scaled_sum(name, args) if name in CHANGES else None

    def reduced_sum(self, name: str, args: tuple[Any, ...], output: Tensor) -> Sum | None:
        """The sum of two rows of numbers, reduced to one."""
        known = self.known(args[0]) if args and isinstance(args[0], Tensor) else None
        if known is None or known.total is None or output.numel() != 1:
            return None
        given = args[0]
        parts = [
            part._replace(
                value=part.value.mean() if name == "mean" else part.value.sum(),
                reduction=reduced(part.reduction, name, given, output) if part.reduction else None,
            )
            for part in known.total.parts
            if part.value.shape == given.shape
        ]
        return Sum(parts, raw_frames(3)) if len(parts) == len(known.total.parts) else None

    def reduced_at(self, args: tuple[Any, ...]) -> RawFrames:
        """Where the tensor that a call is given was reduced first; nothing where it was not."""
        known = next((one for value in args if isinstance(value, Tensor) and (one := self.known(value))), None)
        return known.raw if known is not None and known.reduction is not None and known.total is None else ()

    def scaled_sum(self, name: str, args: tuple[Any, ...]) -> Sum | None:
        """The sum that a product with a number makes: a loss divided by the batches that are added up, or by 1."""
        known = next((one for value in args if isinstance(value, Tensor) and (one := self.known(value))), None)
        factor = scaled(ONE, name, args)
        if known is None or known.total is None or factor is None:
            return None
        parts = [part.times(factor.weight) for part in known.total.parts]
        return Sum(parts, known.total.raw)

    def noted(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        """Note a tensor that is reduced in part, and losses that are not reduced yet."""
        total = self.total(name, args, kwargs, output)
        reduction, spread = (None, None) if total is not None else self.reduction(name, args, kwargs, output)
        if total is not None or reduction is not None or spread is not None:
            at = (self.reduced_at(args) or raw_frames(2)) if reduction is not None else ()
            self.made[id(output)] = Made(weakref.ref(output), at, total, reduction, spread)

    def reduction(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor
    ) -> tuple[Reduction | None, Tensor | None]:
        """What the output of a call is the sum or the mean of, and how far what is compared in it differs."""
        given = [*args, kwargs.get("input")]
        found = ((value, one) for value in given if isinstance(value, Tensor) and (one := self.known(value)))
        value, known = next(found, (None, None))
        if known is None or value is None:
            return reduction_of(name, args, kwargs, output), self.spread(name, args, kwargs)
        if known.reduction is None:
            return reduction_of(name, args, kwargs, output), known.spread
        again = scaled(known.reduction, name, args) or reduced(known.reduction, name, value, output)
        return again, known.spread

    def spread(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
        """How far the answers and the targets of a loss differ from row to row."""
        return row_spread(name, args, kwargs) if self.run.inspecting else None

    def known(self, value: Tensor) -> Made | None:
        """What was noted of a number."""
        known = self.made.get(id(value))
        return known if known is not None and known.tensor() is value else None

    def parts_of(self, value: Tensor, sign: int) -> list[Part]:
        """The terms that a number brings into a sum: those of a sum, or itself."""
        known = self.known(value)
        if known is None:
            return [Part(value.detach().clone(), sign, (), None, None)]
        if known.total is not None:
            return [part._replace(sign=sign * part.sign) for part in known.total.parts]
        return [Part(value.detach().clone(), sign, known.raw, known.reduction, known.spread)]

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the terms of the losses."""
        for loss in losses:
            known = self.known(loss)
            if known is None or known.total is None or len(known.total.parts) > 16:
                continue
            parts = known.total.parts
            values = torch.stack([part.value.reshape(()).double().cpu() for part in parts]).tolist()
            spreads = [(None, None) if part.spread is None else part.spread.tolist() for part in parts]
            terms = tuple(
                Term(
                    value=number(value * part.sign), frame=frames_of(part.raw)[0] if part.raw else None,
                    reduction=part.reduction.how if part.reduction else "",
                    elements=part.reduction.elements if part.reduction else 0,
                    weight=number(abs(part.reduction.weight)) if part.reduction else None,
                    spread=told(spread[0]), target_spread=told(spread[1]),
                )
                for value, part, spread in zip(values, parts, spreads, strict=True)
            )  # fmt: skip
            self.run.emit(LossTerms(ref=self.run.ref(), terms=terms, frame=frames_of(known.total.raw)[0]))
        self.made.clear()


def told(value: float | None) -> Number | None:
    """A float that may be missing, as facts have it."""
    return None if value is None else number(value)


def is_differentiable(value: Any) -> bool:
    """Whether it is a floating tensor with a graph."""
    return isinstance(value, Tensor) and value.is_floating_point() and has_graph(value)


def is_number(value: Any) -> bool:
    """Whether it has a graph and a single value."""
    return is_differentiable(value) and value.numel() == 1
