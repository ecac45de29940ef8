"""The same updates without weight decay."""

from __future__ import annotations

from typing import ClassVar

from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class WithoutDecay(Intervention):
    """The loss alone moves the weights; no single step shows what that is worth."""

    scope: ClassVar[Scope] = "update"
    by_training: ClassVar[bool] = True

    def refuses(self, rerun: Rerun) -> str:
        """Refuse where no group decays."""
        groups = [g for o in rerun.optimizers for g in o.param_groups]
        return "" if any(g.get("weight_decay") for g in groups) else "no parameter group has a weight decay"

    def apply(self, rerun: Rerun) -> str:
        """Set the decay of every group to 0."""

        def switch_off(optimizer: Optimizer) -> None:
            for group in optimizer.param_groups:
                if "weight_decay" in group:
                    group["weight_decay"] = 0.0

        rerun.on_update.append(switch_off)
        return "weight_decay=0"
