"""Short fingerprints of tensors on the CPU: equal values give equal digests; a few microseconds whatever the size."""

from __future__ import annotations

import zlib
from typing import Any

import torch
from torch import Tensor

# values of a leaf that are looked at; two different batches agree in all of them by accident only when they are nearly
# constant (ours)
VALUES = 1024
COLUMNS = 64  # values of a row that are looked at


def readable(leaf: Tensor) -> bool:
    """True for a plain dense tensor in host memory."""
    return (
        leaf.device.type == "cpu"
        and leaf.layout == torch.strided
        and not leaf.is_quantized
        and type(leaf) in (Tensor, torch.nn.Parameter)
    )


def bare(leaf: Tensor) -> Tensor:
    """Detach the leaf from its graph; most batches have none."""
    return leaf.detach() if leaf.requires_grad else leaf


def digest(leaf: Tensor) -> int | None:
    """Hash shape, dtype and at most VALUES values; None for a tensor not in host memory. No host sync."""
    if not readable(leaf):
        return None
    flat = bare(leaf).reshape(-1)
    count = flat.numel()
    if count > VALUES:
        flat = flat[:: count // VALUES | 1][:VALUES]
    return zlib.crc32(
        _bytes(flat),
        hash((tuple(leaf.shape), leaf.element_size(), leaf.is_floating_point(), leaf.is_complex())) & 0xFFFFFFFF,
    )


def row_digests(leaf: Tensor) -> list[int]:
    """Hash at most COLUMNS values of each row; [] where that says nothing (integers, few or constant values)."""
    if not readable(leaf) or leaf.dim() < 2 or not leaf.is_floating_point() or not leaf.shape[0]:
        return []
    rows = bare(leaf).reshape(leaf.shape[0], -1)
    if rows.shape[1] > COLUMNS:
        rows = rows[:, :: rows.shape[1] // COLUMNS | 1][:, :COLUMNS]
    if rows.shape[1] < 2:
        return []
    spread = (rows != rows[:, :1]).any(1).tolist()
    lines = rows.contiguous().view(torch.uint8).numpy()
    return [zlib.crc32(line) for line, varied in zip(lines, spread, strict=True) if varied]


def _bytes(flat: Tensor) -> Any:
    return flat.contiguous().view(torch.uint8).numpy() if flat.numel() else b""
