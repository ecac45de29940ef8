"""The run waits for a person: it goes on without the bad step, or stops, also when nobody comes in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.recorder.run_state import several_ranks
from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response


@dataclass(frozen=True)
class Pause(Response):
    """The last step before the stop, where somebody sees the run or is told: they have the time to come."""

    intrusion: ClassVar[int] = 8
    modes: ClassVar[frozenset[str]] = frozenset({"val", "prod"})

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        if budget.ended:
            return "it has waited before, and nobody let it go on"  # the program has caught the stop that followed
        if several_ranks() and training.rank():
            return ""  # rank 0 knows whether anybody would come; where nobody would, it votes for the stop
        return "" if training.attendance.wait_s() else training.attendance.unattended()

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        put_back = training.make_good(bad) if bad.weights else ""
        if not bad.weights:
            training.leave_out(bad.optimizer)
        told = [*filter(None, [put_back]), training.write_last_good(bad.optimizer)]
        if training.wait() == "resume":
            budget.forgive()
            return "; ".join(["the run waited, and goes on without this step at a person's word", *told])
        budget.ended = True
        return "; ".join(["the run could not go on by itself, and nobody let it go on", *told])
