"""Counts gradients made for an optimizer that has never stepped, while its weights stand."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from debugtracer.callsites.frames import RawFrames
from debugtracer.observers.weights.weight_samples import WeightSamples

UNSTEPPED = 50  # backwards without a step that are news (docs/rationale/checks.md#opt_step_missing)
CHANGES = 2  # times its weights changed without a step, after which it is known that others write them (ours)


class Unstepped:
    """One optimizer."""

    def __init__(self) -> None:
        self.held: frozenset[int] = frozenset()
        """Its parameters, for the end of the run, when it may be gone."""
        self.backwards = 0
        self.zeroed = 0
        self.last_backward: RawFrames = ()
        self.emitted = 0
        """Backward calls at the last news."""
        self.weights: WeightSamples | None = None
        """As they were at the first of these backward calls."""
        self.changes = 0

    def count(self, held: Sequence[Tensor], raw: RawFrames) -> bool:
        """Count one more backward that made gradients; True when that is news. The weights are compared at every power
        of two, for they may be gone when the run ends."""
        if self.changes >= CHANGES:
            return False
        self.last_backward = raw
        if self.weights is None:
            self.held = frozenset(id(p) for p in held)
            self.weights = WeightSamples(held)
        self.backwards += 1
        news = self.backwards % UNSTEPPED == 0
        if not (news or (self.backwards > 1 and self.backwards & (self.backwards - 1) == 0)):
            return False
        if self.weights.stand():
            return news
        self.changes += 1
        self.weights, self.backwards, self.zeroed, self.emitted = None, 0, 0, 0
        return False

    def left(self) -> bool:
        """Whether gradients of which nothing was told are left at the end, and the weights stood when they were last
        there."""
        return self.backwards > self.emitted and self.weights is not None and self.weights.stand(gone=True)
