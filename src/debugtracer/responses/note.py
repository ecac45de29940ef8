"""The step is left to the program as it is, and written down: for a cause that the user has chosen to live with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response


@dataclass(frozen=True)
class Note(Response):
    """Nothing is changed. Taken where it was chosen alone."""

    intrusion: ClassVar[int] = 0
    modes: ClassVar[frozenset[str]] = frozenset({"val", "prod"})
    chosen_only: ClassVar[bool] = True
    writes: ClassVar[bool] = True

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        return "nothing was done about it, as you have chosen for this cause"
