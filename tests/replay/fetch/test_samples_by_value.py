"""The samples behind the rows of a batch whose collate_fn sorts: named where fetching them again proves it alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from debugtracer.hooks.loading.loader_batch import batch_of, info_of_iterator
from debugtracer.hooks.loading.loader_feed import FetchedRows
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.replay.fetch.samples_by_value import samples_by_value

LENGTHS = (3, 7, 5, 2)


class Recordings(Dataset[tuple[Tensor, int]]):
    """Rows of different lengths; some draw noise anew at each fetch, or are all alike."""

    def __init__(self, noise: float = 0.0, alike: bool = False) -> None:
        self.noise, self.alike = noise, alike

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        length = 4 if self.alike else LENGTHS[index]
        start = 1.0 if self.alike else index + 1.0
        return torch.arange(length) + start + self.noise * torch.rand(length), length


def longest_first(samples: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    """Pad and sort by length."""
    ordered = sorted(samples, key=lambda one: one[1], reverse=True)
    return pad_sequence([x for x, _ in ordered], batch_first=True), torch.tensor([n for _, n in ordered])


def found(dataset: Any, rows: tuple[int, ...]) -> tuple[int, ...] | None:
    """The samples of these rows of its first batch."""
    iterator = iter(DataLoader(dataset, batch_size=4, collate_fn=longest_first))
    data = next(iterator)
    info = info_of_iterator(iterator)
    info.iterated(iterator)
    return samples_by_value(batch_of(info, FetchedRows(4, (0, 1, 2, 3), ""), 0, 0.0, leaves_of(data)), rows)


def test_a_sorted_row_is_named_by_what_is_in_it():
    assert found(Recordings(), (0,)) == (1,)
    assert found(Recordings(), (1, 3)) == (2, 3)


def test_a_sample_that_comes_out_otherwise_is_not_named():
    assert found(Recordings(noise=0.5), (0,)) is None


def test_one_of_several_equal_samples_is_not_named():
    assert found(Recordings(alike=True), (0,)) is None


def shares(samples: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    """Pad and sort by length; of the lengths only their shares of the longest are kept."""
    padded, lengths = longest_first(samples)
    return padded, lengths / lengths.max()


def test_a_number_that_depends_on_the_rest_of_the_batch_does_not_hide_the_sample() -> None:
    iterator = iter(DataLoader(Recordings(), batch_size=4, collate_fn=shares))
    data = next(iterator)
    info = info_of_iterator(iterator)
    info.iterated(iterator)
    batch = batch_of(info, FetchedRows(4, (0, 1, 2, 3), ""), 0, 0.0, leaves_of(data))
    assert samples_by_value(batch, (3,)) == (3,)
    assert samples_by_value(batch, (1,)) == (2,)
