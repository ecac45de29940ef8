"""What the best constant answer to all targets seen so far costs on those of one call, by kind of loss."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

MOST_COLUMNS = 65_536  # numbers of a row that have a constant each (ours)
LEAST = 1e-12  # of a share whose logarithm is taken


class Cost(NamedTuple):
    """Numbers on the device of the targets."""

    constant: Tensor
    floor: Tensor
    commonest: Tensor


class ClassShares:
    """How often each class was the target."""

    def __init__(self) -> None:
        self.total: Tensor | None = None

    def cost(self, rows: Tensor, smoothing: float = 0.0) -> Cost:
        """Add the targets of a call, rows of probabilities, and measure what the shares of all so far cost on them."""
        here, classes = rows.sum(0), rows.shape[1]
        if self.total is None or len(self.total) != classes:  # a head of other classes was put in
            self.total = torch.zeros_like(here)
        self.total = self.total.to(here) + here
        shares = self.total / self.total.sum()
        asked, answer = (mixed(one, smoothing, classes) for one in (here / here.sum(), shares))
        each = mixed(rows, smoothing, classes)
        floor = -torch.xlogy(each, each).sum(1).mean()
        return Cost(-(asked * answer.clamp_min(LEAST).log()).sum(), floor, shares.max())


class ColumnMeans:
    """The mean of each number of a row."""

    def __init__(self) -> None:
        self.total: Tensor | None = None
        self.rows = 0

    def add(self, rows: Tensor) -> Tensor:
        """Add the targets of a call; return the means of all so far."""
        here = rows.sum(0)
        self.total = here if self.total is None else self.total.to(here) + here
        self.rows += len(rows)
        return self.total / self.rows

    def squared(self, rows: Tensor) -> Cost:
        """Add the targets of a call, and measure the squared distance of the means from them."""
        means = self.add(rows)
        return Cost((rows - means).square().mean(), rows.new_zeros(()), rows.new_zeros(()))

    def binary(self, rows: Tensor) -> Cost:
        """Add the targets of a call, and measure what the shares of ones cost in cross-entropy."""
        means = self.add(rows).clamp(LEAST, 1 - LEAST)
        here = rows.mean(0)
        cost = -(here * means.log() + (1 - here) * torch.log1p(-means)).mean()
        floor = -(torch.xlogy(rows, rows) + torch.xlogy(1 - rows, 1 - rows)).mean()
        return Cost(cost, floor, means.mean())


def absolute(rows: Tensor) -> Cost:
    """Measure the distance of the medians of this call."""
    return Cost((rows - rows.median(0).values).abs().mean(), rows.new_zeros(()), rows.new_zeros(()))


def mixed(shares: Tensor, smoothing: float, classes: int) -> Tensor:
    """Return shares of classes after label smoothing."""
    return shares * (1 - smoothing) + smoothing / classes if smoothing else shares


def as_rows(value: Tensor) -> Tensor:
    """The numbers of each row side by side in double precision; one column where a row has too many."""
    width = math.prod(value.shape[1:])
    return value.detach().reshape(-1, width if width <= MOST_COLUMNS else 1).double()


def spread(answers: Tensor, targets: Tensor) -> Tensor:
    """The deviation of the answers between rows as a share of that of the targets."""
    varied = targets.var(0, unbiased=False).sum().clamp_min(LEAST)
    return (answers.var(0, unbiased=False).sum() / varied).sqrt()
