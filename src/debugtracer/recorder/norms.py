"""Fused L2 norms, grouped by dtype and device, that say in one number whether anything is non-finite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from debugtracer.recorder.state.sharded import local

FAKE = "FakeTensor"  # torch's tensors without values (export, FakeTensorMode)
FUSABLE = (torch.float32, torch.float16, torch.bfloat16)


def dense(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return floating, non-empty, dense views: sparse by _values(), complex by view_as_real.

    (docs/rationale/replay.md#foreach-norm)"""
    found = []
    for tensor in tensors:
        values = local(tensor.detach())
        if values.layout is not torch.strided:
            values = values.coalesce().values() if values.layout is torch.sparse_coo else values.values()
        if values.is_complex():
            values = torch.view_as_real(values.resolve_conj())
        if values.is_floating_point() and values.numel() and not values.is_meta and type(values).__name__ != FAKE:
            found.append(values)
    return found


def total_l2(tensors: Iterable[Tensor]) -> Tensor | None:
    """The L2 norm over all tensors, as one float32 or float64 scalar on their device. No host sync.

    None when there is nothing to measure.
    Float32 overflows above 1.8e19 per element: inf means "inspect" (docs/rationale/performance.md#l2-overflow)."""
    groups: dict[tuple[torch.device, bool], list[Tensor]] = {}
    for tensor in dense(tensors):
        groups.setdefault((tensor.device, tensor.dtype in FUSABLE), []).append(tensor)
    if not groups:
        return None
    norms = [norm for (_, fusable), group in groups.items() for norm in norms_of(group, fusable)]
    home = norms[0].device
    total: Tensor = torch.linalg.vector_norm(torch.stack([n.to(home, non_blocking=True) for n in norms]))
    return total


def worst_of(tensors: Iterable[Tensor]) -> Tensor | None:
    """The inf-norm over all tensors, exact for NaN and infinities (docs/rationale/performance.md#inf-norm).

    As dear as L2 on a GPU, 20 times dearer on a CPU. No host sync."""
    groups: dict[tuple[torch.device, torch.dtype], list[Tensor]] = {}
    for tensor in dense(tensors):
        groups.setdefault((tensor.device, tensor.dtype), []).append(tensor)
    norms = [norm.double() for group in groups.values() for norm in torch._foreach_norm(group, float("inf"))]
    return torch.stack([n.to(norms[0].device, non_blocking=True) for n in norms]).amax() if norms else None


def norms_of(group: Sequence[Tensor], fusable: bool) -> list[Tensor]:
    """Return one norm per tensor, by one fused call where the dtype allows."""
    if fusable:
        return [
            n.double() if n.device.type == "cpu" else n
            for n in torch._foreach_norm(list(group), 2, dtype=torch.float32)
        ]
    return [torch.linalg.vector_norm(t.double() if t.dtype is not torch.float64 else t) for t in group]


def is_bad(tensor: Tensor) -> bool:
    """True if any value is NaN or infinite. Exact, slow, syncs the host: only after the health norm was bad."""
    return any(not bool(torch.isfinite(t).all()) for t in dense([tensor]))


def loss_value(loss: Tensor) -> float | None:
    """The loss where reading it needs no sync (CPU), else None; for a vector the norm, exact when that overflows."""
    if loss.device.type != "cpu" or not loss.is_floating_point() or type(loss).__name__ == FAKE:
        return None
    if loss.numel() == 1:
        return float(loss.item())
    norm = total_l2([loss])
    value = 0.0 if norm is None else float(norm.item())
    return 0.0 if math.isinf(value) and bool(torch.isfinite(loss).all()) else value
