"""The same updates with the learning rate that the optimizer was built with, whatever a scheduler has made of it."""

from __future__ import annotations

from typing import ClassVar

from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class BuiltRate(Intervention):
    """A schedule that is wrong by its unit or its length is taken away; the rate that was written down stays."""

    scope: ClassVar[Scope] = "update"
    by_training: ClassVar[bool] = True

    def refuses(self, rerun: Rerun) -> str:
        """Refuse where the rate is the one of the constructor."""
        known = [g for o in rerun.optimizers for g in o.param_groups if "initial_lr" in g]
        return "" if any(moved(g) for g in known) else "no schedule has moved the learning rate"

    def apply(self, rerun: Rerun) -> str:
        """Set the rate of each group to its first one."""
        rates = [float(g["initial_lr"]) for o in rerun.optimizers for g in o.param_groups if "initial_lr" in g]

        def put_back(optimizer: Optimizer) -> None:
            for group in optimizer.param_groups:
                if "initial_lr" in group:
                    group["lr"] = group["initial_lr"]

        rerun.on_update.append(put_back)
        return f"the learning rate it was built with, {rates[0]:g}"


def moved(group: dict[str, object]) -> bool:
    """Whether the rate in use differs from the first one by more than a fifth."""
    now, first = float(group["lr"]), float(group["initial_lr"])  # type: ignore[arg-type]
    return abs(now - first) > 0.2 * abs(first)
