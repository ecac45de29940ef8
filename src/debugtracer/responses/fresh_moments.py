"""The optimizer forgets its moments: for those that a bad value or a flipped bit has spoilt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response
from debugtracer.responses.roll_back import RollBack
from debugtracer.responses.skip_update import SkipUpdate


@dataclass(frozen=True)
class FreshMoments(Response):
    """The bad update is left out or taken back, and the next one begins as the first of a run does. Taken where it was
    chosen alone."""

    intrusion: ClassVar[int] = 4
    modes: ClassVar[frozenset[str]] = frozenset({"prod"})
    chosen_only: ClassVar[bool] = True

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        stays = budget.refuses_again(self.slug, bad.step) or training.moments_stay(bad.optimizer)
        if stays or (bad.written and training.good_weights(bad.optimizer) is not None):
            return stays
        return (RollBack() if bad.weights else SkipUpdate()).refuses(bad, budget, training)

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        budget.took(self.slug, bad.step)
        copy = training.good_weights(bad.optimizer) if bad.written else None
        if copy is not None:
            training.undo(copy, bad.optimizer)
            done = "the update was taken back"
        else:
            done = (RollBack() if bad.weights else SkipUpdate()).take(bad, budget, training)
        training.forget_moments(bad.optimizer)
        return f"{done}; the optimizer begins with fresh moments"
