"""The batch without its guilty samples: each is overwritten by a healthy row of the same batch, so that every shape stays."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class WithoutSample(Intervention):
    """Means weigh the healthy row twice; nothing else of the step changes."""

    scope: ClassVar[Scope] = "sample"

    def refuses(self, rerun: Rerun) -> str:
        """It needs to know the rows, and one that is not guilty."""
        if not rerun.batch:
            return "no input of the step has the rows of a batch"
        if not rerun.guilty:
            return "no single row of the batch is known to be guilty"
        return "" if len(rerun.guilty) < (rerun.rows or 0) else "every row of the batch is guilty"

    def apply(self, rerun: Rerun) -> str:
        """Overwrite the rows in every input."""
        guilty = list(rerun.guilty or ())
        good = next(row for row in range(rerun.rows or 0) if row not in set(guilty))
        for leaf in rerun.batch:
            tensor = rerun.value(leaf).clone(memory_format=torch.contiguous_format)
            tensor[guilty] = tensor[good].clone()
            rerun.inputs[id(leaf)] = tensor
        return f"row{'s' if len(guilty) > 1 else ''} {', '.join(map(str, guilty[:6]))}{' ...' if len(guilty) > 6 else ''} replaced by row {good}"
