"""Networks that keep their state where state_dict() does not look: plain tensors, arrays, generators of their own, a
spectral norm, an iterator."""

from __future__ import annotations

import numpy
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

from tests.end_to_end.trained import WIDTH


class Counted:
    """A user's own object."""

    def __init__(self) -> None:
        self.calls, self.total = 0, torch.zeros(())


class Odd(nn.Module):
    """Everything but the iterator."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = spectral_norm(nn.Linear(WIDTH, 12)), nn.Linear(12, 1)
        self.noise = torch.Generator().manual_seed(3)
        self.draws = numpy.random.default_rng(4)
        self.mean, self.array, self.counted = torch.zeros(12), numpy.zeros(3), Counted()

    def forward(self, x: Tensor) -> Tensor:
        h = torch.tanh(self.body(x))
        self.mean.mul_(0.9).add_(h.detach().mean(0).nan_to_num(), alpha=0.1)
        self.array += 1
        self.counted.calls += 1
        self.counted.total += 1
        h = (
            h
            + 1e-3 * torch.empty_like(h).normal_(generator=self.noise)
            + 1e-4 * self.mean
            + 1e-6 * float(self.array.sum()) * float(self.draws.random())
        )
        return self.head(h) + 1e-6 * self.counted.total * self.counted.calls


class Reading(Odd):
    """With an iterator: another run of this forward would take an item away."""

    def __init__(self) -> None:
        super().__init__()
        self.source = iter(range(10**6))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * (1 + 1e-6 * next(self.source))
