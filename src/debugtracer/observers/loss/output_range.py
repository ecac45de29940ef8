"""The range that the last function of a prediction keeps it in, and the targets that lie outside of it."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import torch
from torch import Tensor

from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.trace.facts.loss_call import ELEMENTWISE, Maker
from debugtracer.trace.number import as_float, number

RANGES: dict[str, tuple[float, float]] = {
    "sigmoid": (0.0, 1.0),
    "special_expit": (0.0, 1.0),
    "expit": (0.0, 1.0),
    "hardsigmoid": (0.0, 1.0),
    "softmax": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "relu": (0.0, math.inf),
    "softplus": (0.0, math.inf),
    "relu6": (0.0, 6.0),
    "hardtanh": (-1.0, 1.0),
    "clamp": (-math.inf, math.inf),
    "clip": (-math.inf, math.inf),
    "clamp_min": (-math.inf, math.inf),
    "clamp_max": (-math.inf, math.inf),
}
"""Functions of torch whose outputs have a bound, by name without the _ of those that work in place."""
LIMITS = {
    "hardtanh": ("min_val", "max_val"),
    "clamp": ("min", "max"),
    "clip": ("min", "max"),
    "clamp_min": ("min", ""),
    "clamp_max": ("", "max"),
}
"""Names of the arguments that are the limits, in their order."""
NODES = ("Sigmoid", "Softmax", "Tanh", "Relu", "Softplus", "Hardtanh", "Hardsigmoid", "Clamp")
"""Beginnings of the names of their nodes."""
ROUNDING = 1e-3  # of the deviation of the targets (ours)
ALIKE = 1e-9  # of their mean square: targets that are one number, as a label of real and forged (ours)
MOST_VALUES = 2_000_000  # targets of one call (ours)


def output_range(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[float, float]:
    """The least and the greatest value that a call can give, infinite where nothing is known."""
    low, high = RANGES.get(name, (-math.inf, math.inf))
    if name not in LIMITS:
        return low, high
    values = [low, high]
    given = [at for at, word in enumerate(LIMITS[name]) if word]
    for place, at in enumerate(given):
        value = kwargs.get(LIMITS[name][at], args[1 + place] if len(args) > 1 + place else None)
        if isinstance(value, (int, float)):
            values[at] = float(value)
        elif value is not None:
            values[at] = (-math.inf, math.inf)[at]  # a tensor: each element has its own
    return values[0], values[1]


def with_zeros(maker: Maker | None, scores: Tensor) -> Maker | None:
    """What made scores, with the share of them that is exactly 0 where they cannot be less. One host sync there."""
    if maker is None or as_float(maker.low) != 0 or "softmax" in maker.function or not is_dense(scores):
        return maker
    return msgspec.structs.replace(maker, zeros=number(float((scores.detach() == 0).float().mean())))


def reach(name: str, logits: Tensor, target: Tensor, maker: Maker | None) -> dict[str, Any]:
    """What a fact says of targets that no output can be. One host sync, where the output is bounded."""
    if not comparable(logits, target):
        return {}
    if name == "cross_entropy" and logits.dim() > 1:
        low, high, parts = torch.stack(row_sums(target, 1)).tolist()
        return {"row_low": number(low), "row_high": number(high), "multi_hot": not parts}
    if name not in ELEMENTWISE or maker is None:
        return {}
    low, high = as_float(maker.low), as_float(maker.high)
    if math.isinf(low) and math.isinf(high):
        return {}
    outside, part = torch.stack(unreached(target, low, high)).tolist()
    return {"unreached": int(outside), "unreachable": number(part)}


def comparable(prediction: Tensor, target: Tensor) -> bool:
    """Whether each element of a prediction has a given target of its own."""
    alike = prediction.shape == target.shape and 1 < target.numel() <= MOST_VALUES
    return alike and is_dense(target) and target.is_floating_point() and not target.requires_grad


def unreached(target: Tensor, low: float, high: float) -> list[Tensor]:
    """How many targets lie outside of a range by more than rounding, and the part of their variance that a prediction
    within it leaves at least."""
    values = target.detach().double()
    beyond = (low - values).clamp_min(0) + (values - high).clamp_min(0)
    variance = values.var(unbiased=False)
    varies = variance > ALIKE * values.square().mean()
    part = torch.where(varies, (beyond.square().mean() / variance).clamp_max(1), 0.0)
    return [(beyond > ROUNDING * variance.sqrt()).sum().double(), part]


def row_sums(target: Tensor, dim: int) -> list[Tensor]:
    """The least and the greatest sum of rows of class probabilities, and how many values are neither 0 nor 1."""
    values = target.detach().double()
    sums = values.sum(dim)
    return [sums.amin(), sums.amax(), ((values != 0) & (values != 1)).sum().double()]
