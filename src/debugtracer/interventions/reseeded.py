"""Other random numbers: dropout, noise, sampling drawn anew."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun


class Reseeded(Intervention):
    """Every random call of the step draws from another seed. What was drawn before the step (the batch, kept noise)
    stays."""

    scope: ClassVar[Scope] = "random"
    default: ClassVar[float | None] = 1.0
    unit: ClassVar[str] = "the seed"

    def apply(self, rerun: Rerun) -> str:
        """Seed the random calls of the run."""
        rerun.seed = int(self.size)
        return f"random calls of the step drawn from seed {int(self.size)}"

    def offline(self, tape: OfflineRerun) -> str:
        """Set the seed; needs an operator that draws."""
        if not any(row.states for row in tape.program.ops):
            raise ReplayRefused("no operator of the step draws random numbers")
        tape.seed = int(self.size)
        return f"random operators of the step drawn from seed {int(self.size)}"
