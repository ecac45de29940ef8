"""The missing or misplaced line of the training loop put right for the last steps."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun

FIXES = {
    "stale_gradients": "gradients cleared at the beginning of each of the last {steps} steps",
    "gradients_cleared": "zero_grad moved before the backward in the last {steps} steps",
}
"""Class of the verdict -> what is put right, in words."""


class OneLineFix(Intervention):
    """Which line it is follows from the broken invariant; the steps since the oldest snapshot run again as the loop
    would with it."""

    scope: ClassVar[Scope] = "loop"
    cost: ClassVar[float] = 8.0

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without a broken invariant that one line cures, and steps to try it on."""
        if rerun.broken not in FIXES:
            return "no broken invariant is known that one line of the loop cures"
        return "" if rerun.replays_past else "the steps before are not kept"

    def apply(self, rerun: Rerun) -> str:
        """Drop gradients where a step begins, and leave out the call of the loop that drops them elsewhere."""
        parameters: list[Tensor] = [p for root in rerun.roots for p in root.parameters()]
        parameters += [p for o in rerun.optimizers for g in o.param_groups for p in g["params"]]

        def clear() -> None:
            for parameter in parameters:
                parameter.grad = None

        rerun.before_step.append(clear)
        rerun.left_out.add("zero_grad")
        return FIXES[rerun.broken].format(steps=rerun.history + 1)
