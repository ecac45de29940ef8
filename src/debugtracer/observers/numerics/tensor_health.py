"""The numbers of the health of tensors: an even sample of their values, those of one size read in one go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.observers.numerics.even_sample import MOST, matrices, sample_size, strided
from debugtracer.recorder.gate.norms import FUSED, PLAIN, dense, norms_of
from debugtracer.trace.facts.health import HIGHEST, LOWEST, Role, TensorHealth
from debugtracer.trace.number import number

BINS = HIGHEST - LOWEST + 2
# where the exponent of a float32 lies, and its value for 1.0
MANTISSA_BITS, ONE = 23, 127
NOTHING = ([0.0] * 5, [0] * BINS)

Numbers = tuple[list[float], list[int]]
"""Mean, standard deviation, least, largest and count of zeros of finite values; and their histogram."""


def sample_of(tensor: Tensor, most: int = MOST) -> Tensor | None:
    """An even sample of the values, flat, float32 (float64 stays); None when there is nothing floating. No host
    sync."""
    values = dense([tensor])
    if not values:
        return None
    flat = strided(values[0].reshape(-1), most)
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


def l2s_of(tensors: Sequence[Tensor]) -> list[float]:
    """The norm of each, by one fused call where they are of one kind."""
    kinds = {(type(t) in PLAIN, t.layout, t.dtype, t.device) for t in tensors}
    if len(kinds) != 1:
        return [l2_of(t) for t in tensors]
    plain, layout, dtype, _ = kinds.pop()
    if not plain or layout is not torch.strided or dtype not in FUSED:
        return [l2_of(t) for t in tensors]
    norms: list[float] = torch.stack(list(norms_of([t.detach() for t in tensors]))).tolist()
    return [norm if math.isfinite(norm) else l2_of(t) for norm, t in zip(norms, tensors, strict=True)]


class Sampled(NamedTuple):
    """A tensor as it was: what is left to do is to read numbers, and that is done for many at once."""

    name: str
    role: Role
    shape: tuple[int, ...]
    dtype: torch.dtype
    values: Tensor
    """Its sample, shape (n,)."""
    l2: float | Tensor
    told: dict[str, Any]
    """What else its row says."""

    def norm(self, l2: float) -> float:
        """The norm that was read; one that overflowed is told by that of the sample, if that is finite."""
        if math.isfinite(l2):
            return l2
        share = math.prod(self.shape) / max(self.values.numel(), 1)
        told = float(torch.linalg.vector_norm(self.values.double()).item()) * share**0.5
        return told if math.isfinite(told) else l2


def sampled(
    name: str, role: Role, tensor: Tensor, most: int = MOST, l2: float | None = None, **told: Any
) -> Sampled | None:
    """Copy the sample of a tensor, and measure it whole where its norm is not given; None when it has no floating
    values. No host sync. Call under no_grad; draws no random number."""
    whole = dense([tensor])
    if not whole:
        return None
    values = strided(whole[0].reshape(-1), most)
    values = values.clone() if values.dtype is torch.float64 else values.to(torch.float32, copy=True)
    norm = torch.linalg.vector_norm(whole[0], dtype=values.dtype) if l2 is None else l2
    return Sampled(name, role, tuple(tensor.shape), tensor.dtype, values, norm, told)


def health_of(name: str, role: Role, tensor: Tensor) -> TensorHealth | None:
    """The row of one tensor; None when it has no floating values. Call under no_grad; draws no random number."""
    one = sampled(name, role, tensor, l2=l2_of(tensor))
    return rows_of([one])[0] if one is not None else None


def healths_of(
    role: Role, named: Sequence[tuple[str, Tensor]], norms: Sequence[float] | None = None
) -> list[TensorHealth]:
    """The rows of many tensors, without those that have no floating values; `norms` are those that were read of them
    already, in their order. Call under no_grad."""
    most = sample_size(len(named))
    known = l2s_of([t for _, t in named]) if norms is None else norms
    seen = [sampled(name, role, tensor, most, l2) for (name, tensor), l2 in zip(named, known, strict=True)]
    return rows_of([one for one in seen if one is not None])


def rows_of(seen: Sequence[Sampled]) -> list[TensorHealth]:
    """The rows of tensors that were sampled, those with samples of one length measured together."""
    numbers: dict[int, tuple[int, Numbers]] = {}
    for places, matrix in matrices([one.values for one in seen]):
        if bool(torch.isfinite(matrix).all()):
            read = [(matrix.shape[1], row) for row in numbers_of(matrix)]
        else:
            read = [finite_numbers(row) for row in matrix]
        numbers |= zip(places, read, strict=True)
    norms = together([one.l2 for one in seen])
    return [row_of(one, one.norm(l2), *numbers[place]) for place, (one, l2) in enumerate(zip(seen, norms, strict=True))]


def together(norms: Sequence[float | Tensor]) -> list[float]:
    """Read norms as numbers, those on a device in one transfer."""
    on_device = [norm for norm in norms if isinstance(norm, Tensor)]
    home = on_device[0].device if on_device else None
    read = iter(torch.stack([norm.double().to(home, non_blocking=True) for norm in on_device]).tolist() if home else ())
    return [next(read) if isinstance(norm, Tensor) else norm for norm in norms]


def row_of(seen: Sampled, l2: float, good: int, numbers: Numbers) -> TensorHealth:
    """The row of one tensor from its numbers, of which so many of the sampled values were finite."""
    (mean, std, low, high, zeros), bins = numbers
    count = seen.values.numel()
    return TensorHealth(
        name=seen.name,
        role=seen.role,
        shape=seen.shape,
        dtype=str(seen.dtype).removeprefix("torch."),
        sampled=count,
        mean=number(mean),
        std=number(std),
        low=number(low),
        high=number(high),
        l2=number(l2),
        zero_share=round(zeros / max(good, 1), 6),
        bad=count - good,
        bins=tuple(bins),
        **seen.told,
    )


def finite_numbers(values: Tensor) -> tuple[int, Numbers]:
    """How many of the values, shape (n,), are finite, and the numbers of those."""
    good = values[torch.isfinite(values)]
    return good.numel(), numbers_of(good[None])[0] if good.numel() else NOTHING


def numbers_of(matrix: Tensor) -> list[Numbers]:
    """The numbers of each row of finite values, shape (rows, n), n > 0."""
    std, mean = torch.std_mean(matrix, dim=1, correction=0)
    zeros = (matrix == 0).sum(dim=1)
    told = torch.stack([x.double() for x in (mean, std, matrix.amin(1), matrix.amax(1), zeros)], dim=1).tolist()
    return list(zip(told, histograms(matrix), strict=True))


def histograms(matrix: Tensor) -> list[list[int]]:
    """Count the non-zero |x| of each row per power of two, by the exponent in their bits."""
    rows = matrix.shape[0]
    powers = (matrix.float().abs().view(torch.int32) >> MANTISSA_BITS) - ONE
    bins = (powers - (LOWEST - 1)).clamp_(0, BINS - 1)
    bins += BINS * torch.arange(rows, dtype=torch.int32, device=matrix.device)[:, None]
    counts = torch.bincount(bins.reshape(-1), minlength=rows * BINS).reshape(rows, BINS)
    counts[:, 0] -= (matrix == 0).sum(dim=1)  # their exponent is the least, too
    told: list[list[int]] = counts.tolist()
    return told


def dead_share(output: Tensor) -> float | None:
    """The share of units that are zero on every row: image channels or the last dimension; None without several
    rows."""
    if output.dim() < 2 or output.shape[0] < 2 or not output.numel():
        return None
    unit = 1 if output.dim() >= 4 else output.dim() - 1
    others = [d for d in range(output.dim()) if d != unit]
    if bool((output[:1] != 0).sum(dim=others).all()):  # the first row alone tells it of most layers
        return 0.0
    alive = (output != 0).sum(dim=others) > 0
    return round(1.0 - float(alive.float().mean().item()), 6)


def saturated_share(function: str, output: Tensor) -> float | None:
    """The share of values where a squashing function has nearly no derivative; None for other functions."""
    if function == "tanh":
        return float((output.abs() > 0.99).float().mean().item())
    if function == "sigmoid":
        return float(((output < 0.01) | (output > 0.99)).float().mean().item())
    return None
