"""What real, forked loader workers draw."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torch.utils.data._utils.fetch import _MapDatasetFetcher

from debugtracer.trace.facts.worker_draws import WorkerDraws
from tests.observers.observing import fit, observed
from tests.watching import under_watch


class Noisy(Dataset):
    """`how` says where its noise comes from."""

    def __init__(self, how: str):
        self.how = how
        self.rng = np.random.default_rng(3)
        self.dice = random.Random(3)
        self.order = None

    def __len__(self):
        return 48

    def noise(self, index):
        if self.how == "own":
            return self.rng.standard_normal(3)
        if self.how == "torch":
            return torch.randn(3)
        if self.how == "index":
            self.dice.seed(index)
            return [self.dice.random() for _ in range(3)]
        if self.how == "global":
            return np.random.rand(3)
        if self.how == "once" and self.order is None:
            self.order = self.rng.permutation(48)
        return [0.0, 1.0, float(index)]

    def __getitem__(self, index):
        return torch.as_tensor(self.noise(index), dtype=torch.float32), index % 2


shared_dice = np.random.default_rng(3)


def disturbed(index):
    return torch.as_tensor(shared_dice.standard_normal(3), dtype=torch.float32), index % 2


class Disturbed(Noisy):
    def __getitem__(self, index):
        return disturbed(index)


class Stream(IterableDataset):
    def __init__(self):
        self.rng = np.random.default_rng(3)

    def __iter__(self):
        worker = get_worker_info()
        for index in self.rng.permutation(48)[worker.id :: worker.num_workers]:
            yield torch.full((3,), float(index)) + float(self.rng.random()), int(index) % 2


def same_seed(worker: int) -> None:
    np.random.seed(11)


def loader(dataset, **options):
    return DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context="fork", **options)


def draws(found: list[WorkerDraws], path: str) -> list[WorkerDraws]:
    return [fact for fact in found if fact.path == path]


def test_equal_copies_draw_equal_numbers(tmp_path):
    first, second = draws(observed(tmp_path, lambda: fit(loader(Noisy("own")), passes=2), WorkerDraws), "dataset.rng")
    assert (first.epoch, second.epoch, first.trains, first.stream, first.kind) == (0, 1, True, False, "Generator")
    assert first.drawn[0].before == first.drawn[1].before == second.drawn[0].before
    assert all(drawn.draws for drawn in first.drawn)
    assert (first.made.function.split(".")[-1], first.made.code) == ("__init__", "self.rng = np.random.default_rng(3)")


@pytest.mark.parametrize("how", ["torch", "none", "once"])
def test_nothing_is_told_of_generators_that_stay_or_set_up_only(tmp_path, how):
    found = observed(tmp_path, lambda: fit(loader(Noisy(how))), WorkerDraws)
    assert draws(found, "dataset.rng") == []
    for fact in draws(found, "torch"):
        assert len({drawn.before for drawn in fact.drawn}) == 2


def test_a_generator_seeded_by_the_sample_is_not_said_to_draw(tmp_path):
    for fact in draws(observed(tmp_path, lambda: fit(loader(Noisy("index"))), WorkerDraws), "dataset.dice"):
        assert not any(drawn.draws for drawn in fact.drawn)
        assert len({drawn.after for drawn in fact.drawn}) == 2


def test_a_worker_init_that_seeds_all_alike(tmp_path):
    (fact,) = draws(
        observed(tmp_path, lambda: fit(loader(Noisy("global"), worker_init_fn=same_seed)), WorkerDraws), "numpy.random"
    )
    assert fact.drawn[0].before == fact.drawn[1].before
    assert fact.worker_init.function == "same_seed"


def test_a_generator_of_the_module_is_seen_in_each_worker(tmp_path):
    first, _ = draws(observed(tmp_path, lambda: fit(loader(Disturbed("own")), passes=2), WorkerDraws), "shared_dice")
    assert first.drawn[0].before == first.drawn[1].before
    assert all(drawn.draws for drawn in first.drawn)
    assert (first.made.function, first.made.code) == ("<module>", "shared_dice = np.random.default_rng(3)")


def test_a_stream_is_marked(tmp_path):
    (fact,) = draws(observed(tmp_path, lambda: fit(loader(Stream())), WorkerDraws), "dataset.rng")
    assert fact.stream


def test_the_batches_are_the_same_with_and_without_us_and_the_patch_is_gone(tmp_path):
    original = _MapDatasetFetcher.fetch

    def batches():
        torch.manual_seed(4)
        return [x for x, _ in loader(Noisy("own"), shuffle=True)]

    plain = batches()
    with under_watch(tmp_path):
        kept = batches()
    assert all(torch.equal(a, b) for a, b in zip(plain, kept, strict=True))
    assert _MapDatasetFetcher.fetch is original


class Broken(Noisy):
    def __getitem__(self, index):
        raise KeyError(index)


def test_the_traceback_of_a_worker_reads_as_it_does_without_us(tmp_path):
    def message():
        with pytest.raises(KeyError) as caught:
            next(iter(loader(Broken("own"))))
        return str(caught.value)

    plain = message()
    with under_watch(tmp_path):
        watched = message()
    assert watched == plain
    assert "__getitem__" in plain
