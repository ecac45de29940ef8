"""The gate on the device: a fused optimizer skips its update there when it is told that a number is bad."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.recorder.gate.norms import worst_of


def gates_itself(optimizer: Optimizer) -> bool:
    """True for a fused step of torch's own, which reads found_inf on the device; others raise on it or ignore it."""
    own = str(getattr(type(optimizer).step, "__module__", "")).startswith("torch.optim")
    return own and all(group.get("fused") for group in optimizer.param_groups)


@contextlib.contextmanager
def gated(optimizer: Optimizer, flag: Tensor) -> Iterator[None]:
    """A fused optimizer reads `found_inf` on the device and skips its update there
    (docs/rationale/replay.md#found-inf)."""
    optimizer.found_inf, optimizer.grad_scale = flag, None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del optimizer.found_inf, optimizer.grad_scale  # type: ignore[attr-defined]


def bad_flag(gradients: list[Tensor], losses: list[Tensor], norm: Tensor) -> Tensor:
    """Return 1.0 on the device when a gradient or loss is non-finite; exact (inf-norm), no sync."""
    worst = worst_of(gradients)
    numbers = torch.stack([(norm if worst is None else worst).double(), *losses])
    return (~torch.isfinite(numbers).all()).float().reshape(1)[0]
