"""Real datasets, samplers and collate functions for the loader tests; importable, so that spawned workers can load
them."""

from __future__ import annotations

import collections
import time

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

SIZE = 43
Pair = collections.namedtuple("Pair", "x y")


class Rows(Dataset):
    """Row i holds the number i, three times."""

    def __len__(self):
        return SIZE

    def __getitem__(self, index):
        return torch.full((3,), float(index)), index


class Uneven(Rows):
    """The first worker is slow, so that with in_order=False its batches come late."""

    def __getitem__(self, index):
        if get_worker_info().id == 0:
            time.sleep(0.02)
        return super().__getitem__(index)


class Failing(Rows):
    def __getitem__(self, index):
        if index == 9:
            raise ValueError("sample 9 is broken")
        return super().__getitem__(index)


class Keyed(Dataset):
    def __getitem__(self, key):
        return torch.tensor([float(len(key))])

    def __len__(self):
        return 4


class Chunks(Rows):
    """Item i is a ready-made batch of two rows."""

    def __getitem__(self, index):
        return torch.full((2, 3), float(index))


class ByList(Rows):
    """Takes a list of indices, as is done with batch_size=None."""

    def __getitem__(self, index):
        return torch.stack([torch.full((3,), float(one)) for one in index])


class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.full((3,), float(place)) for place in range(SIZE))


class Sharded(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        return iter(torch.tensor([worker.id, place]) for place in range(10))


class Backwards:
    """A batch sampler of the user's."""

    def __iter__(self):
        order = list(range(SIZE))[::-1]
        yield from (order[start : start + 5] for start in range(0, SIZE, 5))

    def __len__(self):
        return -(-SIZE // 5)


def tensor_sampler():
    return [torch.tensor(place) for place in (5, 3, 8, 1)]


def numpy_sampler():
    return [np.int64(place) for place in (5, 3, 8, 1)]


def drop_first(samples):
    return torch.stack([x for x, _ in samples[1:]])


def as_list(samples):
    return samples


def transposed(samples):
    return tuple(zip(*samples, strict=True))


def as_dict(samples):
    return {
        "x": torch.stack([x for x, _ in samples]),
        "meta": {"y": torch.tensor([y for _, y in samples]), "name": "train"},
    }


def as_pair(samples):
    return Pair(torch.stack([x for x, _ in samples]), torch.tensor([y for _, y in samples]))
