"""Which rows of which data a loader reads, without fetching any: what a Subset, a sampler or a dataset of the program's
lists, or the values of a TensorDataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Subset, SubsetRandomSampler, TensorDataset

from debugtracer.observers.data.digest import sample_digests

MOST = 1 << 16  # rows that are listed (ours)
MOST_READ = 4096  # rows of a TensorDataset whose values are read: 10 ms (ours)


class FoldRows:
    """The rows of one loader. Keeps no data alive."""

    def __init__(self, rows: dict[int, int], of: int) -> None:
        self.rows, self.of = rows, of
        """What identifies a row -> its place in the data; which data that is, 0 for rows that are known by values."""

    def __len__(self) -> int:
        return len(self.rows)

    def shared(self, others: Sequence[FoldRows]) -> list[int]:
        """The places of its rows that any of the others has."""
        known = [one.rows for one in others if one.of == self.of]
        return [place for row, place in self.rows.items() if any(row in rows for rows in known)]


def rows_of(loader: Any) -> FoldRows | None:
    """The rows that a loader reads; None where they are not listed, or are all of the data."""
    dataset, places = getattr(loader, "dataset", None), listed(loader)
    while isinstance(dataset, Subset):
        inside = dataset.indices
        if len(inside) > MOST:
            return None
        places = [int(i) for i in inside] if places is None else [int(inside[i]) for i in places]
        dataset = dataset.dataset
    if places is not None:
        return FoldRows({place: place for place in places}, id(dataset))
    if type(dataset) is TensorDataset and all(isinstance(one, Tensor) for one in dataset.tensors):
        with torch.no_grad():
            found = sample_digests([one[:MOST_READ] for one in dataset.tensors])
        return FoldRows({row: place for place, row in enumerate(found)}, 0) if found else None
    return kept(dataset)


def kept(dataset: Any) -> FoldRows | None:
    """The rows of a part of some data, by the numbers that a dataset of the program's keeps of them: whole ones, as
    many as it is long, each once, and not just counted up from 0."""
    try:
        length = len(dataset)
    except Exception:
        return None  # `__len__` is the user's code and may do anything
    attributes = getattr(dataset, "__dict__", None)
    for name, value in list(attributes.items()) if isinstance(attributes, dict) and 1 < length <= MOST else ():
        numbers = whole_numbers(value, length)
        if numbers is not None and len(set(numbers)) == length and numbers != list(range(length)):
            return FoldRows({row: place for place, row in enumerate(numbers)}, hash((type(dataset), name)) | 1)
    return None


def whole_numbers(value: Any, length: int) -> list[int] | None:
    """The numbers of a list, an array or a tensor of that length; None for anything else."""
    if isinstance(value, (list, tuple)) and len(value) == length:
        return [int(one) for one in value] if all(isinstance(one, (int, np.integer)) for one in value) else None
    if isinstance(value, np.ndarray) and value.shape == (length,) and np.issubdtype(value.dtype, np.integer):
        return [int(one) for one in value]
    if type(value) is Tensor and value.shape == (length,) and value.dtype == torch.int64 and value.device.type == "cpu":
        return [int(one) for one in value.tolist()]
    return None


def listed(loader: Any) -> list[int] | None:
    """The places that a sampler lists."""
    outer = getattr(loader, "batch_sampler", None)
    for sampler in (getattr(loader, "sampler", None), getattr(outer, "sampler", None)):
        if isinstance(sampler, SubsetRandomSampler) and len(sampler.indices) <= MOST:
            return [int(i) for i in sampler.indices]
    return None
