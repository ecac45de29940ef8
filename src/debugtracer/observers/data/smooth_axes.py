"""Do neighbours along the axes of a sample resemble one another, or would they if its values were read in another
order?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import torch
from torch import Tensor

LONG = 8  # places of an axis whose neighbours are compared (ours: channels need no order)
FEWEST, MOST = 8, 24  # samples that are looked at (ours)
LARGEST = 2**16  # values of one sample (ours: the statistic takes 2 ms a sample)
SMOOTH = 0.5  # correlation of neighbours along each long axis of a layout that is believed (ours)
ROUGHER = 2.0  # times that what is left of 1 is less, beside the layout as it is (ours)
GAIN = 0.1  # of that correlation (ours)
GAIN = 0.1  # of that correlation (ours)
SAMPLES = 0.9  # share of the samples in which it is (ours)


class Layout(NamedTuple):
    """Another order of the axes of a sample under which it is smooth."""

    sizes: tuple[int, ...]
    """In the order in which the values were written, first axis slowest."""
    read: tuple[int, ...]
    """The sizes as which they were read, in the order of memory."""
    present: float
    """Mean correlation of neighbours along the long axes as they are."""
    restored: float


def restored_layout(samples: Tensor) -> Layout | None:
    """The layout under which samples of at least two axes are much smoother; None where they are as they should be, or
    smooth in no order."""
    kept = [size for size in samples.shape[1:] if size > 1]
    if not 2 <= len(kept) <= 3 or max(kept) < LONG or len(samples) < FEWEST or samples[0].numel() > LARGEST:
        return None
    x = samples[:MOST].reshape(-1, *kept).double()
    present = smoothness(x)
    best: Layout | None = None
    for read, sizes, other in layouts(x):
        found = smoothness(other)
        overall = found.mean(0)
        better = (1 - found.mean(1)) * ROUGHER <= 1 - present.mean(1)
        if (
            float(overall.min()) < SMOOTH
            or float(overall.mean() - present.mean()) < GAIN
            or float(better.double().mean()) < SAMPLES
        ):
            continue
        if best is None or float(overall.mean()) > best.restored:
            best = Layout(sizes, read, float(present.mean()), float(overall.mean()))
    return best


def layouts(x: Tensor) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], Tensor]]:
    """Yield what the values would be had a transpose been meant for a view: of the axes as they are, and of pictures
    whose channels were moved to the front afterwards."""
    rank = x.dim() - 1
    ways = [tuple(range(rank))] + ([(1, 2, 0), (2, 0, 1)] if rank == 3 else [])
    for way in ways:
        memory = x.permute(0, *(axis + 1 for axis in way))
        read = tuple(memory.shape[1:])
        for sizes in sorted({*permutations(read)} - {read}):
            yield read, sizes, memory.reshape(len(x), *sizes)


def smoothness(x: Tensor) -> Tensor:
    """The correlation of neighbours along each long axis, for each sample."""
    centred = x - x.flatten(1).mean(1).reshape(-1, *[1] * (x.dim() - 1))
    spread = centred.square().flatten(1).mean(1).clamp_min(1e-12)
    rows = []
    for axis in range(1, x.dim()):
        if x.shape[axis] >= LONG:
            steps = centred.diff(dim=axis).square().flatten(1).mean(1)
            rows.append(1 - steps / (2 * spread))
    return torch.stack(rows, 1)
