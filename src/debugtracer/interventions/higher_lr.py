"""The same updates with a larger learning rate."""

from __future__ import annotations

from typing import ClassVar

from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.update_rows import detached


class HigherLr(Intervention):
    """The direction stays, the updates are longer: what only wants more steps gets there sooner."""

    scope: ClassVar[Scope] = "update"
    by_training: ClassVar[bool] = True
    default: ClassVar[float | None] = 10.0
    unit: ClassVar[str] = "what the learning rate is multiplied by"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse if the update is not replayed."""
        return "" if rerun.optimizers else "the update is not replayed"

    def apply(self, rerun: Rerun) -> str:
        """Multiply the rate of every group."""

        def raise_rate(optimizer: Optimizer) -> None:
            for group in optimizer.param_groups:
                group["lr"] = detached(group["lr"]) * self.size

        rerun.on_update.append(raise_rate)
        return f"the learning rate multiplied by {self.size:g}"
