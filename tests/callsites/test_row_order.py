"""Which collate functions may put rows in an order of their own."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, default_collate

from debugtracer.callsites.row_order import keeps_order, order_line
from debugtracer.hooks.loading.loader_batch import batch_of, info_of_iterator
from debugtracer.hooks.loading.loader_feed import FetchedRows
from debugtracer.recorder.state.leaves import leaves_of


def stacked(samples):
    return torch.stack(samples)


def longest_first(samples):
    return stacked(sorted(samples, key=len, reverse=True))


def by_helper(samples, note=""):
    return longest_first(samples)


def mixed(samples):
    x = torch.stack(samples)
    return x + x[torch.randperm(len(x))]


class Sorts:
    def __call__(self, samples):
        return [samples[i] for i in np.argsort([len(s) for s in samples])]

    def method(self, samples):
        samples.sort()
        return samples


@pytest.mark.parametrize("collate", [None, default_collate, stacked, functools.partial(stacked), len])
def test_these_keep_it(collate):
    assert keeps_order(collate)


@pytest.mark.parametrize(
    "collate",
    [
        longest_first,
        by_helper,
        functools.partial(by_helper, note="x"),
        mixed,
        Sorts(),
        Sorts().method,
        lambda s: sorted(s),
    ],
)
def test_these_may_not(collate):
    assert not keeps_order(collate)


@pytest.mark.parametrize(("collate", "rows"), [(stacked, (7,)), (longest_first, None)])
def test_a_row_names_a_sample_only_where_the_order_is_kept(collate, rows):
    iterator = iter(DataLoader([torch.zeros(2)] * 8, batch_size=2, collate_fn=collate))
    batch = batch_of(info_of_iterator(iterator), FetchedRows(2, (3, 7), ""), 0, 0.0, leaves_of(torch.zeros(2, 3)))
    assert batch.samples([1]) == rows
    assert batch.samples([0, 1]) == (3, 7)  # all of them, in whatever order


def test_the_line_that_sorts_is_named():
    def collate(samples):
        parts = list(samples)
        return sorted(parts)

    frame = order_line(collate)
    assert frame is not None
    assert frame.line == collate.__code__.co_firstlineno + 2
    assert order_line(len) is None


def test_other_names_may_be_looked_for():
    def draw(index):
        return np.random.choice(index)

    frame = order_line(draw, {"choice"})
    assert frame is not None
    assert frame.line == draw.__code__.co_firstlineno + 1
    assert order_line(draw) is None
