"""Samples of a Subset in the dataset below it."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo
from debugtracer.recorder.tape.subsets import in_whole, whole_of
from debugtracer.trace.whole_dataset import WholeDataset


class Rows(Dataset[int]):
    def __len__(self) -> int:
        return 20

    def __getitem__(self, index: int) -> int:
        return index


def info_of(loader: Any) -> LoaderInfo:
    return LoaderInfo(weakref.ref(loader), "Subset", 2, 0, "RandomSampler")


def a_batch(info: LoaderInfo, *indices: int) -> Batch:
    return Batch(info, indices, 0, 0.0, [], len(indices))


def test_subsets_are_followed_down_to_the_dataset():
    data = Rows()
    loader = DataLoader(Subset(Subset(data, [5, 6, 7, 8]), torch.tensor([3, 1])))  # type: ignore[arg-type]
    assert in_whole(info_of(loader), [0, 1]) == WholeDataset(name="Rows", indices=(8, 6))
    assert in_whole(info_of(loader), [4]) is None
    plain = DataLoader(data)
    assert in_whole(info_of(plain), [4]) is None


def test_samples_that_one_part_alone_has_had_are_told_and_others_as_counted_in_a_part():
    data, log = Rows(), BatchLog()
    loaders = [DataLoader(Subset(data, [9, 8, 7, 6])), DataLoader(Subset(data, [3, 2]))]
    infos = [info_of(loader) for loader in loaders]
    for batch in (a_batch(infos[0], 3, 0), a_batch(infos[0], 1, 2), a_batch(infos[1], 0, 1)):
        log.add(batch)
    assert whole_of(log, [3, 2]) == WholeDataset(name="Rows", indices=(6, 7))
    assert whole_of(log, [1]) == WholeDataset(name="Rows")
    assert whole_of(log, [7]) is None


def test_without_a_subset_nothing_is_said():
    loader, log = DataLoader(Rows()), BatchLog()
    log.add(a_batch(info_of(loader), 3, 0))
    assert whole_of(log, [3]) is None
