"""How the loss functions of torch take their arguments, and what their values say: ranges, shares, whether an input is
already normalised."""

from __future__ import annotations

import functools
import inspect
import math
from itertools import zip_longest
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from debugtracer.trace.facts.loss_call import BINARY, INDEXED, Form

ROWS = 64  # rows whose sums are looked at (ours: a wrong input is wrong in every row)
CLOSE = {torch.float16: 2e-2, torch.bfloat16: 5e-2}  # rounding of a sum of probabilities in the dtype
EXACT = 1e-3  # the same in float32 and float64


@functools.cache
def signature_of(name: str) -> inspect.Signature:
    """The signature of a loss function of torch.nn.functional."""
    return inspect.signature(getattr(F, name))


def arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, defaults filled in. Raises TypeError when they do not fit."""
    bound = signature_of(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def class_dim(name: str, given: Tensor) -> int | None:
    """The dimension of the classes; None for losses without."""
    if name in INDEXED:
        return 1 if given.dim() > 1 else 0
    return given.dim() - 1 if name in ("kl_div", "ctc_loss") and given.dim() else None


def rows_of(given: Tensor, dim: int) -> Tensor:
    """Take at most ROWS rows, classes last, in float32 at least."""
    for other in range(given.dim()):
        if other != dim:
            given = given.narrow(other, 0, min(given.shape[other], ROWS if other == 0 else 8))
    rows = given.movedim(dim, -1).reshape(-1, given.shape[dim])[:ROWS]
    return rows if rows.dtype == torch.float64 else rows.float()


def row_sums(rows: Tensor) -> list[Tensor]:
    """What `form_of` decides by: least, largest, distance of the sums from 1 and of the log of the sum of exponentials
    from 0."""
    return [rows.amin(), rows.amax(), (rows.sum(-1) - 1).abs().amax(), torch.logsumexp(rows, -1).abs().amax()]


def form_of(low: float, high: float, sums: float, lse: float, dtype: torch.dtype) -> Form:
    """Classify as probabilities, log-probabilities or neither."""
    close = CLOSE.get(dtype, EXACT)
    if low >= 0 and high <= 1 + close and sums < close:
        return "probabilities"
    return "log_probabilities" if high <= close and lse < close else "scores"


def target_limits(name: str, target: Tensor, classes: int | None) -> tuple[float, float] | None:
    """The range in which the targets must lie; None where anything goes."""
    if name in INDEXED:
        return None if target.is_floating_point() or classes is None else (0, classes - 1)
    return (0.0, 1.0) if name in BINARY else None


def counts(target: Tensor, ignore_index: int | None, weight: Tensor | None) -> Tensor:
    """Which targets count: neither ignored nor weighted with 0."""
    if ignore_index is not None and not target.is_floating_point():
        return target != ignore_index
    if weight is not None and target.is_floating_point():
        return (weight != 0).expand_as(target)
    return torch.ones_like(target, dtype=torch.bool)


def target_values(target: Tensor, kept: Tensor, limits: tuple[float, float] | None) -> list[Tensor]:
    """How many count, their range, and how many are outside the limits."""
    values = target.double() if target.is_floating_point() else target.long()
    top = torch.finfo(torch.float64).max if target.is_floating_point() else torch.iinfo(torch.int64).max
    low = torch.where(kept, values, torch.full_like(values, top)).amin()
    high = torch.where(kept, values, torch.full_like(values, -top)).amax()
    outside = ((values < limits[0]) | (values > limits[1])) & kept if limits else torch.zeros_like(kept)
    return [kept.sum(), low, high, outside.sum()]


def rows_outside(target: Tensor, kept: Tensor, limits: tuple[float, float]) -> tuple[int, ...]:
    """The first dimension's indices of targets outside the limits, at most 64. Syncs."""
    outside = ((target < limits[0]) | (target > limits[1])) & kept
    rows = (
        outside.reshape(outside.shape[0], -1).any(1).nonzero().flatten()[:64]
        if outside.dim()
        else outside.reshape(1).nonzero().flatten()
    )
    return tuple(int(row) for row in rows.tolist())


def is_stretched(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """True if two shapes broadcast to one that has more elements than either. Not by `torch.broadcast_shapes`: its
    first call imports sympy, half a second and 400 modules."""
    if len(a) == len(b):
        return False
    pairs = list(zip_longest(reversed(a), reversed(b), fillvalue=1))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        return False
    return math.prod(y if x == 1 else x for x, y in pairs) > max(math.prod(a), math.prod(b))


def is_repeated(a: Tensor, b: Tensor) -> bool:
    """True for (B, 1) and (B, B): one of them was stretched to all pairs of the batch before the loss was called."""
    narrow, square = sorted((tuple(a.shape), tuple(b.shape)), key=lambda shape: shape[-1:])
    return len(square) == 2 and square[0] == square[1] > 1 and narrow == (square[0], 1)
