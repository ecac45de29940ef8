"""Targets that may be places in a picture: do pictures look otherwise at their own points than at those of others?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from debugtracer.observers.data.digest import readable

MOST = 512  # numbers of one target (ours)
FEWEST = 8  # pictures that are looked at (ours)
DRAWS = 200  # pairings with other pictures' points (ours)
STANDS_OUT = 4.0  # standard deviations of those (ours: two orders and two scales are tried)
NARROW = 0.03  # standard deviation of a coordinate, as a share of the side, below which all points are one (ours)


def is_points(leaf: Tensor) -> bool:
    """Whether each row holds pairs of numbers that may be places: `(points, 2)`, with a third for what is seen, or one
    after the other."""
    if not readable(leaf) or not leaf.is_floating_point() or leaf.dim() not in (2, 3) or not leaf.numel():
        return False
    wide = leaf.shape[-1] in (2, 3) if leaf.dim() == 3 else leaf.shape[-1] % 2 == 0
    return wide and leaf[0].numel() <= MOST and len(leaf.detach().flatten().unique()) > len(leaf)


def marks(pictures: Sequence[Tensor], targets: Sequence[Tensor], high: int, wide: int) -> float:
    """The standard deviations by which pictures stand out at their own points or the mirror images of those, beside the
    points of others; `pictures` are the middles of some of this size."""
    if len(pictures) < FEWEST or len({one.shape for one in pictures}) != 1:
        return 0.0
    with torch.no_grad(), torch.device("cpu"):
        looks = torch.stack([features(one.cpu().float()) for one in pictures])
        held = torch.stack([one.detach().cpu().double() for one in targets])
        best = max((stands_out(looks, one) for one in placed(held, high, wide, looks.shape[-2:])), default=0.0)
    return best


def features(picture: Tensor) -> Tensor:
    """How bright and how uneven a picture is about each of its pixels, beside the rest of it."""
    flat = picture.reshape(-1, 1, *picture.shape[-2:]).mean(0, keepdim=True)
    mean = avg_pool2d(flat, 3, 1, 1)
    uneven = (avg_pool2d(flat.square(), 3, 1, 1) - mean.square()).clamp_min(0).sqrt()
    both = torch.cat([mean, uneven], 1)[0]
    spread = both.std((-2, -1), keepdim=True).clamp_min(1e-6)
    return (both - both.mean((-2, -1), keepdim=True)) / spread


def placed(targets: Tensor, high: int, wide: int, side: Sequence[int]) -> Iterator[Tensor]:
    """Yield the points as columns and rows of the middle, for each order and scale of their numbers that fits."""
    pairs = targets[..., :2] if targets.dim() == 3 else targets.reshape(len(targets), -1, 2)
    for points in (pairs, pairs.flip(-1)):
        for zero, scale in ((0.0, (wide - 1, high - 1)), (-1.0, ((wide - 1) / 2, (high - 1) / 2)), (0.0, (1, 1))):
            at = (points - zero) * torch.tensor(scale, dtype=torch.float64)
            inside = ((at >= 0) & (at <= torch.tensor([wide, high]))).all(-1)
            broad = at.reshape(-1, 2).std(0) / torch.tensor([wide, high])
            if float(inside.double().mean()) > 0.9 and float(broad.min()) > NARROW:
                yield at - torch.tensor([(wide - side[1]) // 2, (high - side[0]) // 2])


def stands_out(looks: Tensor, points: Tensor) -> float:
    """The standard deviations above chance of what lies at the points of each picture, or at their mirror images."""
    high, wide = looks.shape[-2:]
    x, y = points[..., 0].round().long().clamp(0, wide - 1), points[..., 1].round().long().clamp(0, high - 1)
    rows = torch.arange(len(looks))

    def of(order: Tensor) -> Tensor:
        across, down = x[order], y[order]
        ways = [looks[rows[:, None], :, b, a] for a in (across, wide - 1 - across) for b in (down, high - 1 - down)]
        return torch.stack(ways).mean(2).amax(0)  # points of a picture are turned together

    generator = torch.Generator().manual_seed(0)
    own = of(rows).mean(0)
    orders = [torch.randperm(len(rows), generator=generator) for _ in range(DRAWS)]
    chance = torch.stack([of(order).mean(0) for order in orders])
    return float(((own - chance.mean(0)) / chance.std(0).clamp_min(1e-6)).abs().max())
