"""A dataset in its plain form: what draws gives its input back, everything else stays; the dataset itself is as
before."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch.utils.data import Dataset, Subset

from debugtracer.replay.trials.plain_samples import plain_form, skipping, without_draws


class Rows(Dataset[Any]):
    def __init__(self, **attributes: Any) -> None:
        self.cache: dict[int, float] = {}
        vars(self).update(attributes)

    def __getitem__(self, index: int) -> float:
        value = float(index)
        self.cache[index] = value = self.transform(value) if getattr(self, "transform", None) else value
        return value + (100.0 if getattr(self, "augment", False) else 0.0)


def jitter(x: float) -> float:
    return x + random.random()


def test_what_draws_is_skipped_and_leaves_the_generators_where_they_were():
    state = random.getstate(), torch.get_rng_state()
    assert [skipping(f)(2.0) for f in (jitter, lambda x: x + 1, lambda x: x + float(torch.rand(())))] == [2.0, 3.0, 2.0]
    assert random.getstate() == state[0]
    assert torch.equal(torch.get_rng_state(), state[1])


def test_a_generator_of_its_own_counts():
    class Own:
        def __init__(self) -> None:
            self.generator, self.random = torch.Generator(), random.Random(3)

        def __call__(self, x: float) -> float:
            return x + float(torch.rand((), generator=self.generator))

    assert skipping(Own())(2.0) == 2.0


def test_chains_keep_their_parts_and_flags_are_off():
    class Chain:
        def __init__(self) -> None:
            self.transforms = [jitter, lambda x: x * 2]

        def __call__(self, x: float) -> float:
            for one in self.transforms:
                x = one(x)
            return x

    chain = Chain()
    assert plain_form(chain)(3.0) == 6.0
    assert chain.transforms[0] is jitter
    assert plain_form(True) is False


def test_the_copy_of_a_dataset_shares_no_cache_and_a_subset_is_looked_into():
    dataset = Rows(transform=jitter, augment=True)
    plain = without_draws(Subset(dataset, [5]))
    assert plain[0] == 5.0
    assert (dataset.cache, dataset.augment, dataset.transform) == ({}, True, jitter)
    assert without_draws(Rows()) is None
