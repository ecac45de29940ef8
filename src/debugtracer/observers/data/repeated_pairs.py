"""How much more often pairs of tokens come again than they would if their second tokens were shuffled."""

from __future__ import annotations

import torch
from torch import Tensor

SHUFFLES = 12  # (ours: the spread of chance is known to a fifth)
LEAST_SPREAD = 0.5  # of counts (ours)


def repeated(pairs: Tensor) -> float:
    """The standard deviations by which equal pairs among (2, n) tokens are more than by chance."""
    seen = equal_pairs(pairs)
    others = [equal_pairs(shuffled) for shuffled in shuffles(pairs)]
    mean, spread = mean_and_spread(others)
    return (seen - mean) / spread


def joined(joins: Tensor, pairs: Tensor) -> tuple[int, float, float]:
    """How many of some pairs are among others, how many would be by chance, and the standard deviation of that."""
    known = codes(pairs, size := int(torch.maximum(pairs.max(), joins.max())) + 1).unique()
    found = int(torch.isin(codes(joins, size), known).sum())
    others = [float(torch.isin(codes(shuffled, size), known).sum()) for shuffled in shuffles(joins)]
    return found, *mean_and_spread(others)


def shuffles(pairs: Tensor) -> list[Tensor]:
    """The pairs with other second tokens, drawn by a generator of our own."""
    generator = torch.Generator(device="cpu").manual_seed(0)
    orders = [torch.randperm(pairs.shape[1], generator=generator, device="cpu") for _ in range(SHUFFLES)]
    return [torch.stack((pairs[0], pairs[1][order])) for order in orders]


def equal_pairs(pairs: Tensor) -> float:
    """How many times two pairs are equal."""
    counts = codes(pairs, int(pairs.max()) + 1).unique(return_counts=True)[1].double()
    return float((counts * (counts - 1) / 2).sum())


def codes(pairs: Tensor, size: int) -> Tensor:
    """Return one number for each pair of tokens below `size`."""
    return pairs[0] * size + pairs[1]


def mean_and_spread(values: list[float]) -> tuple[float, float]:
    """The mean of counts by chance, and their standard deviation, which is never nothing."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)
    return mean, float(max(variance**0.5, LEAST_SPREAD))
