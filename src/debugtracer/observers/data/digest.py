"""Short fingerprints of tensors on the CPU: equal values give equal digests; a few microseconds whatever the size."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
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


def distinct_rows(leaf: Tensor) -> dict[int, int]:
    """Hash at most COLUMNS values of each row, and of a longer one the sum of SUMMED, by row; {} where that says
    nothing (integers, few values). Rows whose values are all the same are left out."""
    if not readable(leaf) or leaf.dim() < 2 or not leaf.is_floating_point() or not leaf.shape[0]:
        return {}
    rows = bare(leaf).reshape(leaf.shape[0], -1)
    sums = [0] * len(rows)
    if rows.shape[1] > COLUMNS:
        sums = bit_sums(rows)
        rows = rows[:, :: rows.shape[1] // COLUMNS | 1][:, :COLUMNS]
    if rows.shape[1] < 2:
        return {}
    spread = (rows != rows[:, :1]).any(1).tolist()
    lines = rows.contiguous().view(torch.uint8).numpy()
    return {n: zlib.crc32(lines[n], sums[n]) for n, varied in enumerate(spread) if varied}


def sample_digests(leaves: Sequence[Tensor]) -> list[int]:
    """Hash each sample of a batch by the rows of its first leaf that tells them apart, and by those of all other leaves
    as long: a few numbers of one are shared by samples that differ in another."""
    first = next(((number, known) for number, leaf in enumerate(leaves) if (known := distinct_rows(leaf))), None)
    if first is None:
        return []
    number, found = first
    for other, leaf in enumerate(leaves):
        if other == number or not readable(leaf) or not leaf.dim() or leaf.shape[0] != leaves[number].shape[0]:
            continue
        rows = bare(leaf).reshape(leaf.shape[0], -1)[:, :COLUMNS]
        lines = rows.contiguous().view(torch.uint8).numpy() if rows.numel() else None
        found = found if lines is None else {n: zlib.crc32(lines[n], value) for n, value in found.items()}
    return list(found.values())


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
