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
            return "the weights are finite, and so would an earlier state be"
        if bad.weights and bad.written and training.good_copy(bad.optimizer) is not None:
            return budget.refuses_roll_back(bad.step)
        parent = self.parent(bad, training)
        if parent is None:
            return "no earlier state without bad values is at hand"
        again = "" if bad.weights else budget.refuses_again(self.slug, bad.step)
        return again or budget.refuses_roll_back(bad.step, parent)

    def parent(self, bad: BadStep, training: LiveTraining) -> int | None:
        """The step of the snapshot that would be put back; None where there is none."""
        snapshot = training.good_snapshot() if bad.weights else training.quiet_snapshot()
        return None if snapshot is None else snapshot.step

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        copied = bad.weights and bad.written and training.good_copy(bad.optimizer) is not None
        budget.rolled_back(bad.step, None if copied else self.parent(bad, training))
        if not bad.weights:
            budget.took(self.slug, bad.step)
        return training.make_good(bad) if bad.weights else training.go_back_slower(bad)
