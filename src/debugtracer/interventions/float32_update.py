"""Half-precision weights updated through float32 copies of them."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import HALF


class Float32Update(Intervention):
    """Forward and backward stay as they are; what an update adds is no longer rounded away, for it is added to the
    copies."""

    scope: ClassVar[Scope] = "precision"
    by_training: ClassVar[bool] = True

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without weights in half precision."""
        held = [p for o in rerun.optimizers for g in o.param_groups for p in g["params"]]
        return "" if any(p.dtype in HALF for p in held) else "no weight is in half precision"

    def apply(self, rerun: Rerun) -> str:
        """Run an optimizer of the same kind over the copies, then round the copies into the weights."""
        made: dict[int, tuple[Optimizer, list[tuple[Tensor, Tensor]]]] = {}

        def step(optimizer: Optimizer) -> None:
            if id(optimizer) not in made:
                made[id(optimizer)] = in_float32(optimizer)
            other, pairs = made[id(optimizer)]
            for group, then in zip(other.param_groups, optimizer.param_groups, strict=True):
                group.update({k: v for k, v in then.items() if k != "params"})
            for copy, weight in pairs:
                copy.grad = None if weight.grad is None else weight.grad.to(copy.dtype)
            other.step()
            with torch.no_grad():
                for copy, weight in pairs:
                    weight.copy_(copy)

        rerun.step_by = step
        return "the updates added to float32 copies of the weights"


def in_float32(optimizer: Optimizer) -> tuple[Optimizer, list[tuple[Tensor, Tensor]]]:
    """An optimizer of the same kind, settings and moments over float32 copies; (copy, weight) of each."""
    pairs: list[tuple[Tensor, Tensor]] = []
    groups: list[dict[str, Any]] = []
    for group in optimizer.param_groups:
        copies = [p.detach().float().requires_grad_(p.requires_grad) for p in group["params"]]
        pairs += zip(copies, group["params"], strict=True)
        groups.append({**group, "params": copies})
    kind: Any = type(optimizer)
    other: Optimizer = kind(groups, **optimizer.defaults)
    for copy, weight in pairs:
        state = optimizer.state.get(weight)
        if state:
            other.state[copy] = {k: in_copy(v) for k, v in state.items()}
    return other, pairs


def in_copy(value: Any) -> Any:
    """A value of the state for the copies: tensors in memory of their own, floating ones in float32."""
    if not isinstance(value, Tensor):
        return value
    return value.to(torch.float32, copy=True) if value.is_floating_point() else value.clone()
