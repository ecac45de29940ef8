"""The program ends with status 3, and its last good state is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response


@dataclass(frozen=True)
class Stop(Response):
    """Nothing smaller can help: what is good is kept, and a person decides."""

    intrusion: ClassVar[int] = 9
    modes: ClassVar[frozenset[str]] = frozenset({"val", "prod"})
    ends: ClassVar[bool] = True

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        if bad.weights:
            put_back = training.make_good(bad)
        else:
            training.leave_out(bad.optimizer)
            put_back = ""
        caught = budget.stopped()
        if caught:
            many = f"{caught} stop{'s' if caught > 1 else ''}"
            return (
                f"the run was stopped again: the program has caught {many} (SystemExit) and goes on; no further state "
                "is written"
            )
        told = ["the run was stopped", *filter(None, [put_back]), training.write_last_good(bad.optimizer)]
        return "; ".join(told)
