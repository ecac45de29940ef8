"""The samples of the batch fetched again without their random transforms."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class AugmentationOff(Intervention):
    """Transforms that draw random numbers give their input back; those that do not (to tensor, normalise) stay. If that
    heals, they are the fault."""

    scope: ClassVar[Scope] = "random"
    cost: ClassVar[float] = 2.0

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without a batch; whether its dataset can be asked again shows when it is asked."""
        return "" if rerun.batch else "no input of the step has the rows of a batch"

    def apply(self, rerun: Rerun) -> str:
        """Exchange the inputs that were fetched. Raises ReplayRefused."""
        found = rerun.refetch()
        changed = 0
        for leaf in rerun.batch:
            value = found.get(id(leaf))
            if value is not None and not torch.equal(value, rerun.value(leaf)):
                rerun.inputs[id(leaf)] = value
                changed += 1
        if not changed:
            raise ReplayRefused("the samples come out the same without their random transforms")
        return f"{rerun.rows or len(rerun.batch[0].tensor)} samples fetched again without their random transforms"
