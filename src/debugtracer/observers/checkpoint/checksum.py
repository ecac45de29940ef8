"""Exact checksums of the bits of tensors, computed where they live; one host sync for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(tensor: Tensor) -> Tensor:
    """The same memory as integers of the same width; complex numbers as pairs."""
    plain = torch.view_as_real(tensor.detach()) if tensor.is_complex() else tensor.detach()
    return plain.view(WORDS[plain.element_size()])


def checksum(tensor: Tensor) -> Tensor:
    """Sum the bits as integers, modulo 2**64, on the tensor's device."""
    return bits(tensor).sum(dtype=torch.int64)


def checksums(tensors: Sequence[Tensor | None]) -> tuple[int, ...]:
    """Return one checksum for each; 0 for None and for layouts without plain memory."""
    plain = [
        t if t is not None and t.layout == torch.strided and not t.is_quantized and not t.is_meta else None
        for t in tensors
    ]
    known = [t for t in plain if t is not None]
    if not known:
        return (0,) * len(tensors)
    device = known[0].device
    values = iter(torch.stack([checksum(t).to(device, non_blocking=True) for t in known]).tolist())
    return tuple(0 if t is None else next(values) for t in plain)
