"""Whether a weight still has the values that torch draws for a new layer."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

FEWEST = 64  # values a weight must have; of so many drawn uniformly, the largest lies above 0.95 of the bound with 96 %
MANY = 400  # values from which on the fourth moment tells a normal draw (3) from a uniform one (1.8): 4 standard errors are 0.98
AFTER = 2  # steps without a change
NEAR = 0.95  # of the bound that the largest value reaches
SMALL = 0.2  # largest standard deviation of a normal draw that is meant as weights; inputs and noise have 1 (ours; GPT-2 0.02, xavier 0.01 to 0.2)
SPREAD = 0.15  # relative difference of the standard deviation to that of a uniform draw (ours; 64 draws vary by 6 %)


class Drawn:
    """Remembers sums of weights from look to look: what nobody updates keeps them to the bit. Waits for the device."""

    def __init__(self) -> None:
        self.first: dict[int, tuple[int, tuple[int, ...], float]] = {}
        """id of a weight -> (iteration of the first look, shape, sum)."""

    def untouched(self, weights: Iterable[Tensor], iteration: int) -> bool:
        """A large weight has not changed since a look AFTER steps ago, and has the values that torch draws for a new layer: it lies within U(-b, b) with
        b = 1/sqrt(fan_in) and fills it, as Linear, convolutions (kaiming_uniform_ with a = sqrt(5)) and the hidden weights of recurrent cells do, or is
        drawn from N(0, s) with a small s, as people write it."""
        with torch.no_grad(), torch._C.DisableTorchFunction():
            large = [w for w in weights if readable(w)]
            return sum(self.kept(w.detach(), id(w), iteration) for w in large) > 0  # all of them are remembered

    def kept(self, weight: Tensor, key: int, iteration: int) -> bool:
        """One weight; each is looked at, so that all are remembered."""
        now = tuple(weight.shape), float(weight.double().sum())
        since, *before = self.first.setdefault(key, (iteration, *now))
        if tuple(before) != now:
            self.first[key] = iteration, *now
            return False
        return iteration - since >= AFTER and (is_uniform(weight) or is_small_normal(weight))


def readable(weight: Tensor) -> bool:
    """A large matrix of plain values: a meta or fake tensor has none, and to add up a sharded one would need the other ranks."""
    return weight.dim() >= 2 and weight.numel() >= FEWEST and weight.is_floating_point() and not weight.is_meta and is_here(weight.data)


def is_here(values: Tensor) -> bool:
    """Plain, and its storage is as large as it says: FSDP frees the whole parameter after its use, and reading it would crash."""
    return type(values) is Tensor and values.untyped_storage().nbytes() >= values.nbytes


def is_uniform(weight: Tensor) -> bool:
    """Its values fill the uniform draw of its fan-in."""
    bound = 1 / math.sqrt(weight[0].numel())
    largest: float
    spread: float
    largest, spread = torch.stack([weight.abs().max().double(), weight.double().std()]).tolist()
    return NEAR * bound <= largest <= bound * (1 + 1e-6) and abs(spread * math.sqrt(3) / bound - 1) <= SPREAD


def is_small_normal(weight: Tensor) -> bool:
    """Mean 0 within four standard errors, a small spread, and the fourth moment of a normal within four standard errors."""
    values, n = weight.double(), weight.numel()
    mean: float
    spread: float
    fourth: float
    mean, spread, fourth = torch.stack([values.mean(), values.std(), values.pow(4).mean()]).tolist()
    return n >= MANY and 0 < spread <= SMALL and abs(mean) <= 4 * spread / math.sqrt(n) and abs(fourth / spread**4 - 3) <= 4 * math.sqrt(24 / n)
