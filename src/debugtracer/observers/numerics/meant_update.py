"""How much of the update that Adam meant reaches weights of half precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Adam, AdamW, Optimizer

from debugtracer.observers.numerics.weights_before import WeightsBefore
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.number import number

KNOWN = (Adam, AdamW)
"""Classes whose update is read off their state; others may round in their own way."""


def arrivals(
    optimizer: Optimizer,
    params: Sequence[Tensor],
    groups: Mapping[int, dict[str, Any]],
    before: WeightsBefore | None,
    changes: Mapping[int, Tensor],
) -> dict[int, dict[str, Any]]:
    """The norm of the meant update and the share of it that the change amounts to, by the id of the parameter. Waits
    for a device where weights are of half precision."""
    if type(optimizer) not in KNOWN or before is None:
        return {}
    keys: list[int] = []
    rows: list[Tensor] = []
    for p in params:
        if p.dtype not in HALF or id(p) not in changes or p not in optimizer.state:
            continue
        meant = meant_update(p, optimizer.state[p], groups[id(p)], before)
        if meant is not None:
            keys.append(id(p))
            rows.append(torch.stack([meant.square().sum(), (meant * changes[id(p)]).sum()]))
    found = torch.stack(rows).double().tolist() if rows else []
    return {
        key: {"meant_l2": number(square**0.5), "arrived": number(along / square)}
        for key, (square, along) in zip(keys, found, strict=True)
        if square > 0
    }


def meant_update(p: Tensor, state: dict[str, Any], group: dict[str, Any], before: WeightsBefore) -> Tensor | None:
    """What the moments would have added to the sampled values without rounding, float32. The decay of AdamW is left
    out: it is a share of each weight far below its last place, and counts for rows that have no gradient too."""
    first, second = state.get("exp_avg"), state.get("max_exp_avg_sq", state.get("exp_avg_sq"))
    if not (isinstance(first, Tensor) and isinstance(second, Tensor)) or not first.shape == second.shape == p.shape:
        return None
    step, (beta1, beta2) = float(state["step"]), map(float, group["betas"])
    mean = before.sample(first).float() / (1 - beta1**step)
    size = (before.sample(second).float() / (1 - beta2**step)).sqrt() + float(group["eps"])
    meant: Tensor = mean / size * -float(group["lr"])
    return meant
