"""The rows of a loader, without fetching any."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset, SubsetRandomSampler, TensorDataset

from debugtracer.observers.loaders.fold_rows import rows_of


class Rows(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        raise AssertionError("no row is fetched")


def test_subsets_and_samplers_of_one_dataset_are_compared_by_place():
    data = Rows()
    one = rows_of(DataLoader(Subset(data, range(10))))
    other = rows_of(DataLoader(data, sampler=SubsetRandomSampler(range(5, 20))))
    inside = rows_of(DataLoader(Subset(Subset(data, range(8, 30)), [0, 1, 2])))
    assert one is not None
    assert other is not None
    assert inside is not None
    assert one.shared([other]) == [5, 6, 7, 8, 9]
    assert inside.shared([one]) == [8, 9]
    assert len(inside) == 3


def test_tensors_are_compared_by_value():
    x = torch.randn(30, 4)
    one, other = (rows_of(DataLoader(TensorDataset(x[part], torch.ones(20)))) for part in (slice(20), slice(10, 30)))
    assert one is not None
    assert other is not None
    assert len(one.shared([other])) == 10


def test_places_in_other_data_are_not_shared():
    one, other = (
        rows_of(DataLoader(Subset(first := Rows(), range(9)))),
        rows_of(DataLoader(Subset(second := Rows(), range(9)))),
    )
    assert first is not second
    assert one is not None
    assert other is not None
    assert one.shared([other]) == []


def test_all_of_a_dataset_is_not_listed():
    assert rows_of(DataLoader(Rows())) is None


class Part(Dataset):
    """Knows of each of its rows where it stood."""

    def __init__(self, numbers):
        self.marks, self.numbers = [1] * len(numbers), numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        raise AssertionError("no row is fetched")


@pytest.mark.parametrize("form", [list, np.array, torch.tensor])
def test_the_numbers_that_a_dataset_keeps_of_its_rows(form):
    one, other = (rows_of(DataLoader(Part(form(numbers)))) for numbers in ([7, 3, 9], [4, 9, 7, 1]))
    assert one is not None
    assert other is not None
    assert one.shared([other]) == [0, 2]


@pytest.mark.parametrize("numbers", [[0, 1, 2], [5, 5, 6], [0.5, 1.5]])
def test_counts_from_0_and_numbers_that_come_twice_name_no_row(numbers):
    assert rows_of(DataLoader(Part(numbers))) is None
