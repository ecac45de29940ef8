"""Another optimizer takes the step: SGD with momentum at the same learning rate."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class OtherOptimizer(Intervention):
    """Its first step has no momentum yet: the gradient times the learning rate. If that heals, the state or the formula
    of the optimizer was the fault."""

    scope: ClassVar[Scope] = "update"
    default: ClassVar[float | None] = 0.9
    unit: ClassVar[str] = "momentum of SGD"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without an update, or if it is one of SGD already."""
        if not rerun.optimizers:
            return "the update is not replayed"
        return "the optimizer is SGD already" if all(isinstance(o, torch.optim.SGD) for o in rerun.optimizers) else ""

    def apply(self, rerun: Rerun) -> str:
        """Use SGD with momentum in place of the optimizer."""
        speeds: dict[int, Tensor] = {}

        @torch.no_grad()
        def step(optimizer: Optimizer) -> None:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        descend(parameter, group, speeds, self.size)

        rerun.step_by = step
        return (
            f"SGD with momentum {self.size:g} in place of {type(rerun.optimizers[0]).__name__}, the same learning rate"
        )


def descend(parameter: Tensor, group: dict[str, Any], speeds: dict[int, Tensor], momentum: float) -> None:
    """Update one parameter in place. `speeds`: id of a parameter -> its velocity, of the parameter's shape."""
    assert parameter.grad is not None
    gradient = parameter.grad.to_dense() if parameter.grad.layout is not torch.strided else parameter.grad
    gradient = -gradient if group.get("maximize") else gradient
    before = speeds.get(id(parameter))
    speed = speeds[id(parameter)] = gradient.clone() if before is None else before.mul_(momentum).add_(gradient)
    parameter.sub_(speed.to(parameter.dtype) * group["lr"])
