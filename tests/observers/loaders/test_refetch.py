"""A sample is fetched once more, its transforms are watched, and nothing is different afterwards."""

from __future__ import annotations

import random
import sys
import threading
import weakref
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from debugtracer.observers.loaders.refetch import getitem_frame, is_odd, refetch
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.step import StepRef

REF = StepRef(iteration=3, step=3)


class Standardise:
    def __call__(self, x):
        return (x - x.mean()) / x.std()


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, x):
        for one in self.transforms:
            x = one(x)
        return x


def double(x):
    return 2 * x


def logarithm(x):
    return x.log()


class Signals(Dataset):
    def __init__(self, transform=None, generator=None):
        self.values = torch.rand(20, 32) + 0.5
        self.values[4] = 1.5
        self.values[6, 3] = float("nan")
        self.values[8, 2] = -1.0
        self.transform = transform
        self.generator = generator
        self.calls = 0

    def __len__(self):
        return 20

    def __getitem__(self, i):
        self.calls += 1
        print("a word from the dataset")
        random.random()
        torch.rand(1)
        np.random.rand()
        if self.generator is not None:
            torch.rand(1, generator=self.generator)
        x = self.values[i]
        return self.transform(x) if self.transform else x, i % 2


KEPT = []


def asked(dataset, index, what="nonfinite"):
    loader = DataLoader(dataset, batch_size=4)
    KEPT.append(loader)
    info = LoaderInfo(loader=weakref.ref(loader), dataset="Signals", batch_size=4, num_workers=0, sampler="")
    return refetch(info, 0, index, what, "batch[0]", REF)


def line_of(text):
    with open(__file__) as file:
        return next(n for n, line in enumerate(file, 1) if line.strip() == text)


def test_a_normalisation_by_a_zero_spread_is_named_with_its_line():
    fact = asked(Signals(Compose([double, Standardise()])), 4)
    assert (fact.again, fact.origin, fact.transform) == (True, "normalisation", "Standardise")
    assert fact.frame.line == line_of("return (x - x.mean()) / x.std()")


def test_an_operation_out_of_its_domain_is_named():
    fact = asked(Signals(logarithm), 8)
    assert (fact.origin, fact.transform, fact.frame.line) == ("operation", "logarithm", line_of("return x.log()"))


def test_a_value_bad_at_its_source_points_into_getitem():
    fact = asked(Signals(Compose([double])), 6)
    assert (fact.again, fact.origin, fact.transform, fact.frame.line) == (
        True,
        "source",
        "",
        line_of("self.calls += 1"),
    )


def test_a_blank_sample_is_told_by_its_one_value():
    assert asked(Signals(), 4, "blank").again
    assert not asked(Signals(), 5, "blank").again


def test_a_sample_that_is_sound_now_has_no_origin():
    fact = asked(Signals(Compose([double])), 5)
    assert (fact.again, fact.origin, fact.frame) == (False, "", None)


def test_generators_counters_transforms_and_streams_are_as_before(capsys):
    generator = torch.Generator().manual_seed(3)
    transform = Compose([double, Standardise()])
    dataset = Signals(transform, generator)
    parts = list(transform.transforms)
    before = (
        torch.get_rng_state(),
        random.getstate(),
        np.random.get_state()[1].copy(),
        generator.get_state(),
        dataset.calls,
    )
    asked(dataset, 4)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()
    assert (before[2] == np.random.get_state()[1]).all()
    assert torch.equal(before[3], generator.get_state())
    assert dataset.calls == before[4]
    assert transform.transforms == parts
    assert capsys.readouterr().out == ""


def test_numpy_generators_of_the_dataset_are_put_back():
    class Noisy(Dataset):
        def __init__(self):
            self.rng, self.old, self.own = np.random.default_rng(3), np.random.RandomState(3), random.Random(3)

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.tensor([self.rng.random() + self.old.rand() + self.own.random(), float("nan")])

    first, second = Noisy(), Noisy()
    asked(first, 0)
    assert first[0][0] == second[0][0]


class Noting(Dataset):
    def __init__(self):
        self.log, self.counts, self.seen, self.best = [], Counter(), {7}, defaultdict(list)

    def __len__(self):
        return 4

    def __getitem__(self, i):
        self.log.append(i)
        self.counts[i] += 1
        self.seen.clear()
        self.best[i].append(1)
        return torch.tensor([float("nan")])


def test_what_lists_dicts_and_sets_hold_is_put_back():
    dataset = Noting()
    dataset.log, dataset.counts[2] = [3], 5
    log, counts = dataset.log, dataset.counts
    assert asked(dataset, 2).again
    assert (log, counts, dataset.seen, dataset.best) == ([3], {2: 5}, {7}, {})
    assert dataset.log is log and dataset.counts is counts


def test_what_a_thread_fills_goes_on():
    dataset = Noting()
    dataset.reader = threading.Thread()
    asked(dataset, 2)
    assert dataset.log == [2]


def test_streams_and_datasets_that_raise_are_left_alone():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter([torch.zeros(1)])

    class Picky(Signals):
        def __getitem__(self, i):
            raise RuntimeError("only in a worker")

    class Final(Signals):
        def __getitem__(self, i):
            sys.exit("nothing left")

    assert asked(Stream(), 0) is None
    assert asked(Picky(), 0) is None
    assert asked(Final(), 0) is None


def test_the_line_of_samples_is_that_of_the_users_class():
    assert getitem_frame(Subset(Signals(), [1, 2])).line == line_of("self.calls += 1")
    assert getitem_frame(TensorDataset(torch.zeros(3))) is None


@pytest.mark.parametrize(
    ("sample", "odd"),
    [
        (float("nan"), True),
        ((1.0, 2), False),
        ({"x": np.array([1.0, np.inf])}, True),
        (np.zeros(3), False),
        ("text", False),
    ],
)
def test_odd_samples_of_any_kind(sample, odd):
    assert is_odd(sample, "nonfinite") is odd
