"""The update is left out, and the learning rate is lower for some steps, then comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.lowered_rate import FACTOR, LOW, RAMP
from debugtracer.responses.response import Response
from debugtracer.responses.skip_update import SkipUpdate


@dataclass(frozen=True)
class LowerLr(Response):
    """For causes that smaller updates keep from coming again. Taken where it was chosen alone."""

    intrusion: ClassVar[int] = 2
    modes: ClassVar[frozenset[str]] = frozenset({"val", "prod"})
    leaves_out: ClassVar[bool] = True
    chosen_only: ClassVar[bool] = True

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        return budget.refuses_again(self.slug, bad.step) or SkipUpdate().refuses(bad, budget, training)

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        budget.took(self.slug, bad.step)
        training.lasting.lower_rates(self.slug, bad.optimizer)
        skipped = SkipUpdate().take(bad, budget, training)
        return f"{skipped}; the learning rate is times {FACTOR:g} for {LOW} steps, and comes back in {RAMP}"
