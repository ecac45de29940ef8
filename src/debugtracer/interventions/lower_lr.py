"""The same step with a smaller learning rate."""

from __future__ import annotations

import math
from typing import ClassVar

from torch.optim import Optimizer

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.update_rows import detached, lower_rate, update_rows


class LowerLr(Intervention):
    """The forward and the gradients stay; only the update is smaller. From older weights on, every update of the way
    is."""

    scope: ClassVar[Scope] = "update"
    default: ClassVar[float | None] = 10.0
    unit: ClassVar[str] = "what the learning rate is divided by"
    ladder: ClassVar[tuple[float, ...]] = (2.0, 100.0)

    def refuses(self, rerun: Rerun) -> str:
        """Refuse if the update is not replayed, or a part of a rate that is no number would be none either."""
        if any(not_finite(group.get("lr")) for optimizer in rerun.optimizers for group in optimizer.param_groups):
            return "the learning rate is no finite number"
        return "" if rerun.optimizers else "the update is not replayed"

    def apply(self, rerun: Rerun) -> str:
        """Divide the rate of every group."""

        def lower(optimizer: Optimizer) -> None:
            for group in optimizer.param_groups:
                group["lr"] = detached(group["lr"]) / self.size

        rerun.on_update.append(lower)
        return f"the learning rate divided by {self.size:g}"

    def offline(self, tape: OfflineRerun) -> str:
        """Divide the rate in the recorded update."""
        if not update_rows(tape.program):
            raise ReplayRefused("the capsule holds no update: the step stopped before it")
        if not lower_rate(tape, self.size):
            raise ReplayRefused("no learning rate is recognised in the recorded update")
        return f"the learning rate divided by {self.size:g}"


def not_finite(rate: object) -> bool:
    """True for a rate that is NaN, infinite or complex; one in a tensor is not read."""
    return isinstance(rate, complex) or (isinstance(rate, float) and not math.isfinite(rate))
