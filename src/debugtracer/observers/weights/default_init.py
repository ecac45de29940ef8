"""Whether a weight still has the values that torch draws for a new layer."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

FEWEST = 64  # values a weight must have; of so many drawn uniformly, the largest lies above 0.95 of the bound with 96 %
# values from which on the fourth moment tells a normal draw (3) from a uniform one (1.8): 4 standard errors are 0.98
MANY = 400
AFTER = 2  # steps without a change
NEAR = 0.95  # of the bound that the largest value reaches
# largest standard deviation of a normal draw that is meant as weights; inputs and noise have 1 (ours; GPT-2 0.02,
# xavier 0.01 to 0.2)
SMALL = 0.2
SPREAD = 0.15  # relative difference of the standard deviation to that of a uniform draw (ours; 64 draws vary by 6 %)


class DefaultInit:
    """Remembers sums of weights from one inspected step to the next: what nobody updates keeps them to the bit. Waits
    for the device."""

    def __init__(self) -> None:
        self.first: dict[int, tuple[int, tuple[int, ...], float]] = {}
        """id of a weight -> (iteration of the first sum, shape, sum)."""

    def untouched(self, weights: Iterable[Tensor], iteration: int) -> bool:
        """True if a large weight has not changed since AFTER steps ago and has the values that torch draws for a new
        layer.

        It then lies within U(-b, b) with b = 1/sqrt(fan_in) and fills it, as Linear, convolutions (kaiming_uniform_
        with
        a = sqrt(5)) and the hidden weights of recurrent cells do, or is drawn from N(0, s) with a small s, as people
        write it."""
        with torch.no_grad(), torch._C.DisableTorchFunction():
            large = [w for w in weights if readable(w)]
            return sum(self.is_untouched(w.detach(), id(w), iteration) for w in large) > 0  # all of them are remembered

    def is_untouched(self, weight: Tensor, key: int, iteration: int) -> bool:
        """True if one weight is as drawn; each call also remembers its values."""
        now = tuple(weight.shape), float(weight.double().sum())
        since, *before = self.first.setdefault(key, (iteration, *now))
        if tuple(before) != now:
            self.first[key] = iteration, *now
            return False
        return iteration - since >= AFTER and (is_uniform(weight) or is_small_normal(weight))


def readable(weight: Tensor) -> bool:
    """True for a large matrix of plain values: a meta or fake tensor has none, a sharded one needs the other ranks."""
    return (
        weight.dim() >= 2
        and weight.numel() >= FEWEST
        and weight.is_floating_point()
        and not weight.is_meta
        and is_here(weight.data)
    )


def is_here(values: Tensor) -> bool:
    """True for a plain tensor with a full storage: FSDP frees the parameter after use, and reading it would crash."""
    return type(values) is Tensor and values.untyped_storage().nbytes() >= values.nbytes


def is_uniform(weight: Tensor) -> bool:
    """True if the values fill the uniform draw of the fan-in."""
    bound = 1 / math.sqrt(weight[0].numel())
    largest: float
    spread: float
    largest, spread = torch.stack([weight.abs().max().double(), weight.double().std()]).tolist()
    return NEAR * bound <= largest <= bound * (1 + 1e-6) and abs(spread * math.sqrt(3) / bound - 1) <= SPREAD


def is_small_normal(weight: Tensor) -> bool:
    """True for mean 0 and the fourth moment of a normal, both within four standard errors, and a small spread."""
    values, n = weight.double(), weight.numel()
    mean: float
    spread: float
    fourth: float
    mean, spread, fourth = torch.stack([values.mean(), values.std(), values.pow(4).mean()]).tolist()
    return (
        n >= MANY
        and 0 < spread <= SMALL
        and abs(mean) <= 4 * spread / math.sqrt(n)
        and abs(fourth / spread**4 - 3) <= 4 * math.sqrt(24 / n)
    )
