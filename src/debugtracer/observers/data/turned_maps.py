"""Does a map lie over its picture, or only once it is transposed, mirrored, or cut into rows along its other side?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from debugtracer.observers.data.pairing import Probe
from debugtracer.observers.model.shadow_model import is_dense

SMALLEST = 8  # height and width (ours)
PIXELS = 512  # that a probe tells from each other (ours)
CHANNELS = 8  # of a picture, and columns of a map (ours)
TOLD = 0.25  # share of a map's variance that its picture tells where it is turned (ours)
LEAST_GAIN = 0.2  # more than as they lie (ours)
MOST_PRESENT = 0.3  # of what it tells turned: of neighbours that are alike some is told anyway (ours)


class Turned(NamedTuple):
    """A turn under which a picture tells its map."""

    how: str
    turned: float
    present: float


def is_map_of(target: Tensor, picture: Tensor) -> bool:
    """Whether a tensor has a value, or a few, for each pixel of pictures."""
    if picture.dim() != 4 or not picture.is_floating_point() or not is_dense(picture) or not is_dense(target):
        return False
    rows, _, high, wide = picture.shape
    same = target.dim() in (3, 4) and len(target) == rows and target.shape[-2:] == (high, wide)
    return same and min(high, wide) >= SMALLEST and (target.dim() == 3 or target.shape[1] <= CHANNELS)


def turned(picture: Tensor, target: Tensor, generator: torch.Generator) -> Turned | None:
    """The turn under which the pixels of pictures tell those of their maps, and as they lie hardly do."""
    maps = columns_of(target)
    rows, _, high, wide = picture.shape
    chosen = torch.randperm(rows * high * wide, generator=generator)[:PIXELS]
    features = around(picture).permute(0, 2, 3, 1).flatten(0, 2)[chosen]
    wanted = maps.flatten(0, 2)[chosen]
    finite = bool(features.isfinite().all()) and bool(wanted.isfinite().all())
    if len(chosen) < PIXELS or not finite or not bool(features.std(0).any()) or not bool(wanted.std(0).any()):
        return None
    probe = Probe(features)
    present = float(probe.explained(wanted[..., None])[0])
    ways = [(how, one.flatten(0, 2)[chosen]) for how, one in turns(maps)]
    shares = probe.explained(torch.stack([one for _, one in ways], -1))
    best = float(shares.max())
    if best < TOLD or best - max(present, 0.0) < LEAST_GAIN or present > MOST_PRESENT * best:
        return None
    return Turned(ways[int(shares.argmax())][0], best, present)


def columns_of(target: Tensor) -> Tensor:
    """A map as pictures x height x width x columns; of ids a column for each of the most frequent ones."""
    if target.is_floating_point():
        return (target[:, None] if target.dim() == 3 else target).permute(0, 2, 3, 1).double()
    ids = target if target.dim() == 3 else target[:, 0]
    values, counts = ids.unique(return_counts=True)
    kept: Tensor = ids[..., None] == values[counts.argsort(descending=True)[:CHANNELS]]
    return kept.double()


def around(picture: Tensor) -> Tensor:
    """The pixels with the means of what is around each."""
    held = picture[:, :CHANNELS].float()
    means = [avg_pool2d(held, size, 1, size // 2, count_include_pad=False) for size in (3, 7)]
    return torch.cat([held, *means], 1)


def turns(maps: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the other ways in which a map may lie over a picture, pictures x height x width x columns."""
    rows, high, wide, columns = maps.shape
    yield "mirrored top to bottom", maps.flip(1)
    yield "mirrored left to right", maps.flip(2)
    yield "turned by half", maps.flip(1, 2)
    if high == wide:
        across = maps.transpose(1, 2)
        yield "transposed", across
        yield "turned by a quarter to the left", across.flip(1)
        yield "turned by a quarter to the right", across.flip(2)
        yield "transposed over the other diagonal", across.flip(1, 2)
    else:
        yield "cut into columns, not rows", maps.reshape(rows, wide, high, columns).transpose(1, 2)
        yield "cut into rows, not columns", maps.transpose(1, 2).reshape(rows, high, wide, columns)
