"""Other random numbers: dropout, noise, sampling drawn anew."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class Reseeded(Intervention):
    """Every random call of the step draws from another seed. What was drawn before the step (the batch, kept noise) stays."""

    scope: ClassVar[Scope] = "random"
    default: ClassVar[float | None] = 1.0
    unit: ClassVar[str] = "the seed"

    def apply(self, rerun: Rerun) -> str:
        """Set the seed."""
        rerun.seed = int(self.size)
        return f"random calls of the step drawn from seed {int(self.size)}"
