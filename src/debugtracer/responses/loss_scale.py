"""The scale of a GradScaler is lowered at once where it has searched for one that fits for very long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.held_scale import HELD
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response


@dataclass(frozen=True)
class LossScale(Response):
    """What the scaler would come to by itself, many lost batches later. Nothing that was trained is touched."""

    intrusion: ClassVar[int] = 2
    modes: ClassVar[frozenset[str]] = frozenset({"prod"})

    def answers(self, bad: BadStep) -> bool:
        return bad.overflows > 0

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        if training.several_optimizers():
            return "more than one optimizer is alive: the next may unscale by a scale that its loss was not scaled with"
        scale = float(bad.scaler._scale.item())
        if scale <= 1:
            return f"its scale is {scale:.3g} already: a lower one loses small gradients"
        return budget.refuses_again(self.slug, bad.step)

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        budget.took(self.slug, bad.step)
        before, now = training.lasting.lower_scale(bad.scaler, bad.optimizer)
        return f"its scale was lowered from {before:.3g} to {now:.3g}, and does not grow for the next {HELD} updates"
