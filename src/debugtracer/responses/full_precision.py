"""Half precision is switched off for a while where a GradScaler finds no scale that lets an update through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.full_precision_segment import SEGMENT
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response


@dataclass(frozen=True)
class FullPrecision(Response):
    """The scaler goes on working; its scale is no lower for what half precision cannot hold."""

    intrusion: ClassVar[int] = 2
    modes: ClassVar[frozenset[str]] = frozenset({"prod"})

    def answers(self, bad: BadStep) -> bool:
        return bad.failed_unscales > 0

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        again = budget.refuses_again(self.slug, bad.step)
        if again or training.half_precision_seen():
            return again
        return "autocast is not in use, so nothing can be switched to full precision"

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        budget.took(self.slug, bad.step)
        training.lasting.use_full_precision(bad.optimizer)
        return f"autocast is off for the next {SEGMENT} updates, then on again"
