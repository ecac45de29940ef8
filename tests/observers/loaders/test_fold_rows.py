"""The rows of a loader, without fetching any."""

from __future__ import annotations

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
