"""The numbers of one tensor's health: an even sample of its values, read in one go."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.gate.norms import dense
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import HIGHEST, LOWEST, Role, TensorHealth
from debugtracer.trace.number import number

SAMPLE = 16_384  # values of a tensor that are looked at: the share of 1 % is known to 0.1 % (ours)
BINS = HIGHEST - LOWEST + 2


def sample_of(tensor: Tensor) -> Tensor | None:
    """An even sample of the values, flat, float32 (float64 stays); None when there is nothing floating. No host
    sync."""
    values = dense([tensor])
    if not values:
        return None
    flat = values[0].reshape(-1)
    stride = max(1, flat.numel() // SAMPLE)
    flat = flat[::stride] if stride > 1 else flat
    return flat if flat.dtype is torch.float64 else flat.float()


def l2_of(tensor: Tensor) -> float:
    """The norm of all values; one host sync on a device."""
    values = dense([tensor])
    if not values:
        return 0.0
    whole = values[0]
    wide = whole if whole.dtype in (torch.float32, torch.float64) else whole.float()
    norm = float(torch.linalg.vector_norm(wide).item())
    return norm if math.isfinite(norm) else float(torch.linalg.vector_norm(wide.double()).item())


def health_of(
    name: str, role: Role, tensor: Tensor, *, function: str = "", frame: Frame | None = None, **more: Any
) -> TensorHealth | None:
    """The row of one tensor; None when it has no floating values. Call under no_grad; draws no random number."""
    values = sample_of(tensor)
    if values is None:
        return None
    good = values[torch.isfinite(values)]
    count = good.numel()
    std, mean = torch.std_mean(good, correction=0) if count else (good.new_zeros(()), good.new_zeros(()))
    low, high = good.aminmax() if count else (good.new_zeros(()), good.new_zeros(()))
    zeros = (good == 0).sum()
    told = torch.stack([x.double() for x in (mean, std, low, high, zeros)]).tolist()
    return TensorHealth(
        name=name,
        role=role,
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        sampled=values.numel(),
        mean=number(told[0]),
        std=number(told[1]),
        low=number(told[2]),
        high=number(told[3]),
        l2=number(l2_of(tensor)),
        zero_share=round(told[4] / max(count, 1), 6),
        bad=values.numel() - count,
        bins=tuple(histogram(good)),
        function=function,
        frame=frame,
        **more,
    )


def histogram(values: Tensor) -> list[int]:
    """Count the non-zero |x| per power of two."""
    sizes = values.abs()
    sizes = sizes[sizes > 0]
    if not sizes.numel():
        return [0] * BINS
    powers = torch.frexp(sizes).exponent.long() - 1
    counts: list[int] = torch.bincount((powers - (LOWEST - 1)).clamp_(0, BINS - 1), minlength=BINS).tolist()
    return counts


def dead_share(output: Tensor) -> float | None:
    """The share of units that are zero on every row: image channels or the last dimension; None without several
    rows."""
    if output.dim() < 2 or output.shape[0] < 2 or not output.numel():
        return None
    unit = 1 if output.dim() >= 4 else output.dim() - 1
    others = [d for d in range(output.dim()) if d != unit]
    alive = (output != 0).sum(dim=others) > 0
    return round(1.0 - float(alive.float().mean().item()), 6)


def saturated_share(function: str, output: Tensor) -> float | None:
    """The share of values where a squashing function has nearly no derivative; None for other functions."""
    if function == "tanh":
        return float((output.abs() > 0.99).float().mean().item())
    if function == "sigmoid":
        return float(((output < 0.01) | (output > 0.99)).float().mean().item())
    return None
