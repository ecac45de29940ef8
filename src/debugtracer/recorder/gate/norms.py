"""Fused L2 norms, grouped by dtype and device, that say in one number whether anything is non-finite."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.state.sharded import local

FAKE = "FakeTensor"  # torch's tensors without values (export, FakeTensorMode)
FUSABLE = (torch.float32, torch.float16, torch.bfloat16)
FUSED = (*FUSABLE, torch.float64)
EXACT = frozenset({torch.float32, torch.float64})
PLAIN = frozenset({Tensor, torch.nn.Parameter})
DTYPE = attrgetter("dtype")
KIND = attrgetter("__class__", "layout", "dtype", "device")
ON_CPU = attrgetter("is_cpu")
TOLIST: Any = Tensor.tolist


def dense(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return floating, non-empty, dense views: sparse by _values(), complex by view_as_real.

    (docs/rationale/replay.md#foreach-norm)"""
    found = []
    for tensor in tensors:
        values = local(tensor.detach())
        if values.layout is not torch.strided or values.is_nested:
            values = values.coalesce().values() if values.layout is torch.sparse_coo else values.values()
        if values.is_complex():
            values = torch.view_as_real(values.resolve_conj())
        if values.is_floating_point() and values.numel() and not values.is_meta and type(values).__name__ != FAKE:
            found.append(values)
    return found


def grouped(tensors: Iterable[Tensor]) -> list[list[Tensor]]:
    """Group by device and dtype what can be measured: plain tensors as they are, no op for each; others as `dense`
    gives them. An empty one among others counts 0."""
    tensors = list(tensors)
    kinds = set(map(KIND, tensors))
    if len(kinds) == 1 and any(map(Tensor.numel, tensors)):
        kind, layout, dtype, device = kinds.pop()
        if kind in PLAIN and layout is torch.strided and dtype in FUSED and device.type != "meta":
            return [tensors]
    groups: dict[tuple[torch.device, torch.dtype], list[Tensor]] = {}
    for tensor in tensors:
        plain = type(tensor) in PLAIN and tensor.layout is torch.strided and tensor.dtype in FUSED
        for part in (tensor,) if plain and tensor.numel() and not tensor.is_meta else dense((tensor,)):
            groups.setdefault((part.device, part.dtype), []).append(part)
    return list(groups.values())


def total_l2(tensors: Iterable[Tensor]) -> Tensor | None:
    """The L2 norm over all tensors, as one float32 or float64 scalar on their device. No host sync.

    None when there is nothing to measure.
    Float32 overflows above 1.8e19 per element: inf means "inspect" (docs/rationale/performance.md#l2-overflow)."""
    with torch.no_grad():
        norms = [torch.stack(norms_of(group)) for group in grouped(tensors)]
        if not norms:
            return None
        home = norms[0].device
        together = norms[0] if len(norms) == 1 else torch.cat([n.to(home, non_blocking=True) for n in norms])
        total: Tensor = torch.linalg.vector_norm(together, dtype=torch.float64 if home.type == "cpu" else None)
    return total


def all_on_cpu(tensors: list[Tensor]) -> bool:
    """Whether there are tensors, and all of them lie in host memory."""
    return bool(tensors) and all(map(ON_CPU, tensors))


def l2_on_cpu(tensors: list[Tensor], kept: deque[tuple[float, ...]] | None = None) -> float:
    """The same as a number, of tensors in host memory: for plain ones no op is dispatched but the fused norm, and the
    norm of each is put into `kept`."""
    if tensors and PLAIN.issuperset(map(type, tensors)):
        try:
            norms = torch._foreach_norm(tensors)
        except RuntimeError:  # it has none of sparse tensors
            norms = ()
        if norms and EXACT.issuperset(map(DTYPE, norms)):
            each: tuple[float, ...] = tuple(map(TOLIST, norms))
            if kept is not None:
                kept.append(each)
            return math.hypot(*each)
    with torch._C.DisableTorchFunctionSubclass():
        norm = total_l2(tensors)
    return 0.0 if norm is None else scalar(norm)


def worst_of(tensors: Iterable[Tensor]) -> Tensor | None:
    """The inf-norm over all tensors, exact for NaN and infinities (docs/rationale/performance.md#inf-norm).

    As dear as L2 on a GPU, 20 times dearer on a CPU. No host sync."""
    with torch.no_grad():
        groups = grouped(t for t in tensors if t.numel())  # of an empty one this norm raises
        worst = [torch.stack(torch._foreach_norm(group, math.inf)).amax().double() for group in groups]
        return torch.stack([w.to(worst[0].device, non_blocking=True) for w in worst]).amax() if worst else None


def norms_of(group: list[Tensor]) -> tuple[Tensor, ...] | list[Tensor]:
    """Return one norm per tensor of one dtype, by one fused call where the dtype allows."""
    dtype = group[0].dtype
    if dtype in FUSED:
        return torch._foreach_norm(group, 2, dtype=torch.float32 if dtype in FUSABLE else None)
    return [torch.linalg.vector_norm(t.double()) for t in group]


def scalar(tensor: Tensor) -> float:
    """The value of a tensor with one element; on the CPU no op is dispatched for it."""
    if type(tensor) is Tensor and tensor.dim() == 0 and tensor.is_cpu:
        value: Any = tensor.tolist()
        return float(value)
    return float(tensor.item())


def is_bad(tensor: Tensor) -> bool:
    """True if any value is NaN or infinite. Exact, slow, syncs the host: only after the health norm was bad."""
    return any(not bool(torch.isfinite(t).all()) for t in dense([tensor]))


def loss_value(loss: Tensor) -> float | None:
    """The loss where reading it needs no sync (CPU), else None; for a vector the norm, exact when that overflows."""
    if loss.device.type != "cpu" or not loss.is_floating_point() or type(loss).__name__ == FAKE:
        return None
    if loss.numel() == 1:
        return scalar(loss)
    norm = total_l2([loss])
    value = 0.0 if norm is None else scalar(norm)
    return 0.0 if math.isinf(value) and bool(torch.isfinite(loss).all()) else value
