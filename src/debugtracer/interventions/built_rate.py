"""The same updates with the learning rate that the optimizer was built with, whatever a scheduler has made of it."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class BuiltRate(Intervention):
    """A schedule that is wrong by its unit or its length is taken away; the rate that was written down stays."""

    scope: ClassVar[Scope] = "update"
    by_training: ClassVar[bool] = True

    def refuses(self, rerun: Rerun) -> str:
        """Refuse where every update was made with the rate of the constructor."""
        firsts = [g.get("initial_lr") for o in rerun.optimizers for g in o.param_groups]
        steps = [e for e in rerun.entries if e.kind == "step"]
        used = [(s.get("lr"), first) for e in steps for s, first in zip(e.settings, firsts, strict=False)]
        return "" if any(map(moved, used)) else "no schedule has moved the learning rate"

    def apply(self, rerun: Rerun) -> str:
        """Set the rate of each group to its first one."""
        rates = [float(g["initial_lr"]) for o in rerun.optimizers for g in o.param_groups if "initial_lr" in g]

        def put_back(optimizer: Optimizer) -> None:
            for group in optimizer.param_groups:
                if "initial_lr" in group:
                    group["lr"] = group["initial_lr"]

        rerun.on_update.append(put_back)
        return f"the learning rate it was built with, {rates[0]:g}"


def moved(rates: tuple[float | Tensor | None, float | Tensor | None]) -> bool:
    """Whether the rate in use differs from the first one by more than a fifth."""
    now, first = rates
    return now is not None and first is not None and abs(float(now) - float(first)) > 0.2 * abs(float(first))
