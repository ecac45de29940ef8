"""The state goes back to before the fault: by one update where a copy is at hand, else to a snapshot of the ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response


@dataclass(frozen=True)
class RollBack(Response):
    """Training goes on from an earlier state with the batches that come next; those since are left out."""

    intrusion: ClassVar[int] = 3
    modes: ClassVar[frozenset[str]] = frozenset({"prod"})

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        if not bad.weights and not bad.weights_to_blame:
            return "the weights are good: an earlier state would be no better"
        if not bad.weights and training.old_snapshot() is None:
            return "no earlier state without bad values is at hand"
        if bad.weights and not (bad.written and training.good_copy(bad.optimizer)) and training.good_snapshot() is None:
            return "no earlier state without bad values is at hand"
        return budget.refuses_roll_back(bad.step)

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        budget.rolled_back(bad.step)
        return training.make_good(bad) if bad.weights else training.go_back_slower(bad)
