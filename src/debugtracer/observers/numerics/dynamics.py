"""What an update did to each parameter, and the state of its optimizer: update ratio, Adam's moments, RMS_t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.numerics.even_sample import sample_size
from debugtracer.observers.numerics.meant_update import arrivals
from debugtracer.observers.numerics.second_moments import SecondMoment, measured
from debugtracer.observers.numerics.tensor_health import l2s_of
from debugtracer.observers.numerics.weights_before import WeightsBefore
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.facts.health import ParamDynamics
from debugtracer.trace.number import number


def dynamics_of(
    named: Sequence[tuple[str, Tensor]],
    optimizer: Optimizer,
    before: WeightsBefore | None,
    read: Mapping[int, float] | None = None,
) -> list[ParamDynamics]:
    """Measure parameters after step(); `before` is of before it, `read` the norms of gradients that are known, by the
    id of the parameter. Without those that no group holds, and those without plain floating values. Call under
    no_grad."""
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    held = [
        (name, p)
        for name, p in named
        if id(p) in groups and p.layout is torch.strided and p.is_floating_point() and not p.is_meta
    ]
    params = [p for _, p in held]
    grads = {id(p): g for p in params if (g := p.grad) is not None and g.layout is torch.strided}
    changes = before.changes(params) if before is not None else {}
    updates = before.sizes(params, changes) if before is not None else {}
    weights = dict(before.norms) if before is not None else {}
    unread = [p for p in params if id(p) not in weights]
    weights |= zip(map(id, unread), l2s_of(unread), strict=True)
    norms = dict(read or {})
    new = {key: grad for key, grad in grads.items() if key not in norms}
    norms |= zip(new, l2s_of(list(new.values())), strict=True)
    states = moments(optimizer, params, groups, grads)
    arrived = arrivals(optimizer, params, groups, before, changes)
    return [
        ParamDynamics(
            name=name,
            numel=p.numel(),
            dtype=str(p.dtype).removeprefix("torch."),
            optimizer=type(optimizer).__name__,
            lr=number(rate(groups[id(p)].get("lr", 0.0))),
            weight_l2=number(weights[id(p)]),
            grad_l2=number(norms[id(p)]) if id(p) in grads else None,
            update_l2=number(updates[id(p)]) if id(p) in updates else None,
            stalled=stalled_share(p, grads.get(id(p)), changes.get(id(p)), before),
            **states.get(id(p), {}),
            **arrived.get(id(p), {}),
        )
        for name, p in held
    ]


def rate(value: Any) -> float:
    """A learning rate as a number; one that is a tensor may ask for gradients itself. Waits for its device."""
    return float(value.detach()) if isinstance(value, Tensor) else float(value)


def stalled_share(
    parameter: Tensor, grad: Tensor | None, change: Tensor | None, before: WeightsBefore | None
) -> float | None:
    """The share of elements of a half-precision weight that have a gradient and were not changed by the update."""
    if grad is None or change is None or before is None or parameter.dtype not in HALF:
        return None
    touched = before.sample(grad) != 0
    count = int(touched.sum().item())
    return float(((change == 0) & touched).sum().item()) / count if count else None


def moments(
    optimizer: Optimizer, params: Sequence[Tensor], groups: dict[int, dict[str, Any]], grads: dict[int, Tensor]
) -> dict[int, dict[str, Any]]:
    """Measure Adam's first and second moments, by the id of their parameter; nothing of an optimizer without them."""
    states = {id(p): optimizer.state[p] for p in params if p in optimizer.state}
    first = {key: m for key, state in states.items() if isinstance(m := state.get("exp_avg"), Tensor)}
    told: dict[int, dict[str, Any]] = {
        key: {"moment_l2": number(l2)} for key, l2 in zip(first, l2s_of(list(first.values())), strict=True)
    }
    seconds: dict[int, SecondMoment] = {}
    for p in params:
        key, group = id(p), groups[id(p)]
        state = states.get(key, {})
        v = state.get("exp_avg_sq")
        if isinstance(v, Tensor) and v.shape == p.shape and "eps" in group:
            beta2 = float(group["betas"][1]) if "betas" in group else 0.0
            seconds[key] = SecondMoment(v, grads.get(key), float(group["eps"]), beta2, float(state.get("step", 0.0)))
    for key, fields in zip(seconds, measured(list(seconds.values()), sample_size(len(params))), strict=True):
        told[key] = told.get(key, {}) | fields
    return told
