"""Follows mixtures of a batch with its own permuted rows, and of the losses or targets that go with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.facts.mixed_targets import MixedTargets

ADDED = frozenset({"add", "__add__", "__radd__"})
MOST = 256  # tensors that are followed in a step (ours)


class WeighedRows(NamedTuple):
    """A tensor, or a loss against one: the rows as they came, or as an index permuted them."""

    base: WeakRef[Tensor]
    order: Tensor | None
    scores: WeakRef[Tensor] | None = None
    """Of a loss: its prediction."""
    factor: float = 1.0


def alike(one: WeighedRows, two: WeighedRows) -> bool:
    """Say whether both are rows, or losses of one prediction: one that is gone cannot have been used twice."""
    if one.scores is None or two.scores is None:
        return one.scores is two.scores
    scores = one.scores()
    return scores is not None and scores is two.scores()


class RowMix(NamedTuple):
    """A sum of rows and their permutation."""

    order: Tensor
    own: float
    other: float
    raw: RawFrames


class MixedTargetsObserver(Observer):
    """Compares identities in inspected steps; the only tensors that it keeps until the step ends are indices."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, tuple[WeakRef[Tensor], WeighedRows]] = {}
        self.mixes: list[RowMix] = []

    def reset(self) -> None:
        self.known.clear()
        self.mixes.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what the step has mixed."""
        self.reset()

    @of_functions({"__getitem__"}, PRODUCTS, LOSSES, ADDED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow an index, a factor, a loss, a sum."""
        if not isinstance(output, Tensor) or len(args) < 2 or not isinstance(args[0], (Tensor, int, float)):
            return
        name = getattr(function, "__name__", "")
        if name == "__getitem__":
            self.index(args[0], args[1], output)
        elif name in PRODUCTS:
            self.scale(args[0], args[1], output)
        elif name in LOSSES:
            rows = self.of(args[1]) or (WeighedRows(WeakRef(args[1]), None) if isinstance(args[1], Tensor) else None)
            if rows is not None and isinstance(args[0], Tensor):
                self.keep(output, rows._replace(scores=WeakRef(args[0])))
        elif name in ADDED:
            self.add(args[0], args[1], raw_frames(1))

    def of(self, value: Any) -> WeighedRows | None:
        """What is known of a tensor."""
        known = self.known.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def keep(self, value: Tensor, rows: WeighedRows) -> None:
        """Remember a tensor by its identity."""
        if len(self.known) < MOST or id(value) in self.known:
            self.known[id(value)] = WeakRef(value), rows

    def index(self, value: Any, place: Any, output: Tensor) -> None:
        """Note rows in another order: as many as there were, by an index of their number."""
        index = place[0] if isinstance(place, tuple) and place else place
        rest = place[1:] if isinstance(place, tuple) else ()
        if not isinstance(index, Tensor) or index.dtype != torch.int64 or index.dim() != 1:
            return
        whole = all(part is Ellipsis or (isinstance(part, slice) and part == slice(None)) for part in rest)
        if whole and isinstance(value, Tensor) and output.shape == value.shape and len(index) == len(value):
            self.keep(output, WeighedRows(WeakRef(value), index))

    def scale(self, a: Any, b: Any, output: Tensor) -> None:
        """Note a product with one number between 0 and 1."""
        value, factor = (a, b) if isinstance(a, Tensor) and (not isinstance(b, Tensor) or self.of(a)) else (b, a)
        if not isinstance(value, Tensor):
            return
        if isinstance(factor, Tensor) and (factor.numel() != 1 or not factor.is_cpu or factor.is_complex()):
            return  # to read it would wait for the device
        if not isinstance(factor, (Tensor, int, float)):
            return
        rows = self.of(value) or (WeighedRows(WeakRef(value), None) if value.dim() else None)
        number = float(factor.detach() if isinstance(factor, Tensor) else factor)
        if rows is not None and 0 <= number <= 1:
            self.keep(output, rows._replace(factor=number))

    def add(self, a: Any, b: Any, raw: RawFrames) -> None:
        """Note a mixture, and compare it with one of the same permutation."""
        one, two = self.of(a), self.of(b)
        if one is None or two is None or not alike(one, two) or (one.order is None) == (two.order is None):
            return
        own, other = (one, two) if one.order is None else (two, one)
        if other.order is None or own.base() is None or own.base() is not other.base():
            return
        mix = RowMix(other.order, own.factor, other.factor, raw)
        former = next((m for m in self.mixes if m.order is mix.order), None)
        if own.scores is None:
            self.mixes.append(mix)
        if former is not None:
            self.run.emit(
                MixedTargets(
                    ref=self.run.ref(), frame=first(raw), mixed=first(former.raw), own=former.own, other=former.other,
                    target_own=mix.own, target_other=mix.other,
                )
            )  # fmt: skip
