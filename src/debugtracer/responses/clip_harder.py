"""The update is left out, and gradients are clipped to their usual norm for some steps: for those that explode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.clipped_gradient import CLIPPED
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response
from debugtracer.responses.skip_update import SkipUpdate
from debugtracer.trace.number import number


@dataclass(frozen=True)
class ClipHarder(Response):
    """Taken where it was chosen alone."""

    intrusion: ClassVar[int] = 2
    modes: ClassVar[frozenset[str]] = frozenset({"val", "prod"})
    leaves_out: ClassVar[bool] = True
    chosen_only: ClassVar[bool] = True

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        again = budget.refuses_again(self.slug, bad.step) or SkipUpdate().refuses(bad, budget, training)
        if again:
            return again
        if training.state.roots.sharded:
            return "each rank knows the norm of its part of the gradient alone"
        return "" if training.usual_gradient() is not None else "the usual norm of the gradient is not known yet"

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        budget.took(self.slug, bad.step)
        limit = training.usual_gradient() or 0.0
        training.lasting.clip_gradients(self.slug, bad.optimizer, limit)
        skipped = SkipUpdate().take(bad, budget, training)
        return f"{skipped}; gradients are clipped to a norm of {number(limit)}, the usual one, for {CLIPPED} steps"
