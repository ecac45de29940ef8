"""The update is left out, and everything the batch has changed is as before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BAD_WEIGHTS, BLAMED, BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response
from debugtracer.responses.roll_back import RollBack


@dataclass(frozen=True)
class SkipUpdate(Response):
    """Training goes on as if the batches of this window had not been seen."""

    intrusion: ClassVar[int] = 1
    modes: ClassVar[frozenset[str]] = frozenset({"val", "prod"})
    leaves_out: ClassVar[bool] = True

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        if bad.written:
            return "the update was written already"
        if bad.weights:
            return BAD_WEIGHTS
        if bad.failed_unscales:
            return "the GradScaler leaves it out by itself"
        if bad.weights_to_blame and not RollBack().refuses(bad, budget, training):
            return BLAMED
        return bad.obstacle or budget.refuses_skip(bad.step)

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        put_back = training.leave_out(bad.optimizer)
        budget.skipped(bad.step)
        left = f"; {not_held}" if (not_held := training.window.not_held()) else ""
        return f"its update was left out, {' and '.join(put_back)} are as before it{left}"
