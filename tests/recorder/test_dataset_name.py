"""A dataset is named by its class and length, whatever its `__len__` does."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.utils.data import IterableDataset, TensorDataset

from debugtracer.recorder.dataset_name import dataset_length, dataset_name


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))


class Broken:
    def __len__(self) -> int:
        raise KeyError("of the program's own")


def test_a_dataset_is_named_by_class_and_length() -> None:
    assert dataset_name(TensorDataset(torch.zeros(3))) == "TensorDataset of 3 samples"
    assert dataset_name(Broken()) == "Broken of None samples"


def test_a_stream_has_no_length() -> None:
    assert dataset_length(Stream()) is None
