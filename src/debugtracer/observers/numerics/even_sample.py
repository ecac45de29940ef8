"""An even sample of the values of a tensor, the same places for every tensor of one shape; samples of one length as a
matrix, so that one call of torch measures them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

MOST = 16_384  # values of a tensor that are looked at: the share of 1 % is known to 0.1 % (ours)
LEAST = 4096  # of one among many: to 0.2 % (ours)
TOGETHER = 1 << 18  # values of one role in a close look: a model of many large tensors has fewer of each (ours)


def sample_size(tensors: int) -> int:
    """How many values of each of so many tensors are looked at."""
    return max(LEAST, min(MOST, TOGETHER // max(tensors, 1)))


def strided(flat: Tensor, most: int = MOST) -> Tensor:
    """The sample of a flat tensor: a view, with `most` values or a few more."""
    stride = max(1, flat.numel() // most)
    return flat[::stride] if stride > 1 else flat


def evenly(tensor: Tensor, most: int = MOST) -> Tensor:
    """The sample of any dense tensor, float32; of complex values their sizes."""
    values = tensor.detach()
    return strided((values.abs() if values.is_complex() else values).reshape(-1), most).float()


def matrices(samples: Sequence[Tensor]) -> Iterator[tuple[list[int], Tensor]]:
    """Yield those of one length, dtype and device as the rows of a matrix, with their places in the sequence."""
    groups: dict[tuple[int, torch.dtype, torch.device], list[int]] = {}
    for place, sample in enumerate(samples):
        groups.setdefault((sample.numel(), sample.dtype, sample.device), []).append(place)
    for places in groups.values():
        first = samples[places[0]]
        yield places, first[None] if len(places) == 1 else torch.stack([samples[place] for place in places])


def row_medians(rows: Tensor) -> Tensor:
    """The lower median of the numbers of each row, shape (rows, n) to (rows,), NaN left out; NaN where there are none.
    By sorting: torch.nanmedian along a dimension is refused by a device that is to be deterministic."""
    ordered = rows.sort(dim=1).values  # NaN last
    middle = ((~ordered.isnan()).sum(dim=1) - 1).clamp_min(0) // 2
    return ordered.gather(1, middle[:, None])[:, 0]
