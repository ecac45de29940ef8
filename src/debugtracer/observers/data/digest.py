"""Short fingerprints of tensors on the CPU: equal values give equal digests; a few microseconds whatever the size."""

from __future__ import annotations

import zlib
from typing import Any

import torch
from torch import Tensor

# values of a leaf that are looked at; two different batches agree in all of them by accident only when they are nearly
# constant (ours)
VALUES = 1024
COLUMNS = 64  # values of a row that are looked at one by one
SUMMED = 256  # values of a longer row whose sum counts too: images that are mostly black agree in 64 (ours)
WHOLE = {2: torch.int16, 4: torch.int32, 8: torch.int64}  # by element size


def readable(leaf: Tensor) -> bool:
    """True for a plain dense tensor in host memory."""
    return (
        leaf.device.type == "cpu"
        and leaf.layout == torch.strided
        and not leaf.is_quantized
        and not leaf.is_nested
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
    """Hash at most COLUMNS values of each row, and of a longer one the sum of SUMMED; [] where that says nothing
    (integers, few or constant values)."""
    if not readable(leaf) or leaf.dim() < 2 or not leaf.is_floating_point() or not leaf.shape[0]:
        return []
    rows = bare(leaf).reshape(leaf.shape[0], -1)
    sums = [0] * len(rows)
    if rows.shape[1] > COLUMNS:
        sums = bit_sums(rows)
        rows = rows[:, :: rows.shape[1] // COLUMNS | 1][:, :COLUMNS]
    if rows.shape[1] < 2:
        return []
    spread = (rows != rows[:, :1]).any(1).tolist()
    lines = rows.contiguous().view(torch.uint8).numpy()
    return [zlib.crc32(line, total) for line, total, varied in zip(lines, sums, spread, strict=True) if varied]


def bit_sums(rows: Tensor) -> list[int]:
    """The sum of the bits of at most SUMMED values of each row as whole numbers, the same in any order."""
    most = rows[:, :: rows.shape[1] // SUMMED | 1][:, :SUMMED] if rows.shape[1] > SUMMED else rows
    whole = WHOLE.get(most.element_size())
    if whole is None:
        return [0] * len(rows)
    sums: list[int] = most.contiguous().view(whole).sum(1, dtype=torch.int64).tolist()
    return [total & 0xFFFFFFFF for total in sums]


def _bytes(flat: Tensor) -> Any:
    return flat.contiguous().view(torch.uint8).numpy() if flat.numel() else b""
