"""What an update did to one parameter, and the state of its optimizer: update ratio, Adam's moments, RMS_t."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.numerics.tensor_health import SAMPLE, l2_of
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.facts.health import ParamDynamics
from debugtracer.trace.number import number


def dynamics_of(name: str, parameter: Tensor, optimizer: Optimizer, before: Tensor | None) -> ParamDynamics | None:
    """Measure one parameter after step(); `before` is a copy from before. None if no group holds it. Call under
    no_grad."""
    group = next((g for g in optimizer.param_groups if any(p is parameter for p in g["params"])), None)
    if group is None or parameter.layout is not torch.strided or not parameter.is_floating_point():
        return None
    grad = parameter.grad if parameter.grad is not None and parameter.grad.layout is torch.strided else None
    change = (parameter.detach().float() - before.float()) if before is not None else None
    return ParamDynamics(
        name=name,
        numel=parameter.numel(),
        dtype=str(parameter.dtype).removeprefix("torch."),
        optimizer=type(optimizer).__name__,
        lr=number(rate(group.get("lr", 0.0))),
        weight_l2=number(l2_of(before if before is not None else parameter)),
        grad_l2=None if grad is None else number(l2_of(grad)),
        update_l2=None if change is None else number(l2_of(change)),
        stalled=stalled_share(parameter, grad, change),
        **moments(optimizer, parameter, group, grad),
    )


def rate(value: Any) -> float:
    """A learning rate as a number; one that is a tensor may ask for gradients itself. Waits for its device."""
    return float(value.detach()) if isinstance(value, Tensor) else float(value)


def stalled_share(parameter: Tensor, grad: Tensor | None, change: Tensor | None) -> float | None:
    """The share of elements of a half-precision weight that have a gradient and were not changed by the update."""
    if grad is None or change is None or parameter.dtype not in HALF:
        return None
    touched = grad != 0
    count = int(touched.sum().item())
    return float(((change == 0) & touched).sum().item()) / count if count else None


def moments(optimizer: Optimizer, parameter: Tensor, group: dict[str, Any], grad: Tensor | None) -> dict[str, Any]:
    """Measure Adam's first and second moment of one parameter; nothing for an optimizer without them."""
    state = optimizer.state.get(parameter, {})
    v, m = state.get("exp_avg_sq"), state.get("exp_avg")
    if not isinstance(v, Tensor) or v.shape != parameter.shape or "eps" not in group:
        return {"moment_l2": number(l2_of(m))} if isinstance(m, Tensor) else {}
    step = float(state["step"]) if "step" in state else 0.0
    beta2 = float(group["betas"][1]) if "betas" in group else 0.0
    sampled = evenly(v) / max(1.0 - beta2**step, 1e-12) if step else evenly(v)
    known = sampled > 0
    touched = sampled[known]
    told: dict[str, Any] = {"moment_l2": number(l2_of(m)) if isinstance(m, Tensor) else None}
    if not touched.numel():
        return told
    eps = float(group["eps"])
    told["least_v"] = number(float(touched.amin().item()))
    told["under_eps"] = float((touched.sqrt() < eps).float().mean().item())
    told["beta2"] = beta2 or None
    told["log_v"] = number(float(evenly(v)[known].log().mean().item()))
    if grad is not None:
        squares = evenly(grad)[known].square()
        told["rms"] = number(float((squares / touched.clamp_min(eps * eps)).mean().sqrt().item()))
        given = squares > 0
        if 2 * int(given.sum().item()) >= given.numel():
            told["lag"] = number(float((squares[given] / touched[given]).median().item()))
    return told


def evenly(tensor: Tensor) -> Tensor:
    """An even sample of the values, the same places for every tensor of one shape."""
    values = tensor.detach()
    flat = (values.abs() if values.is_complex() else values).reshape(-1)
    return flat[:: max(1, flat.numel() // SAMPLE)].float()
