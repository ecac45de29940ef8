"""All rows of a dataset, in its own order."""

from __future__ import annotations

import time
import weakref
from contextlib import nullcontext
from types import SimpleNamespace

import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

from debugtracer.observers.loaders import whole_data
from debugtracer.recorder.tape.batches import LoaderInfo

X, Y = torch.randn(150, 3), torch.arange(150)
RUN = SimpleNamespace(disabled=nullcontext)


class Rows(Dataset):
    def __init__(self, wait=0.0, fails=False):
        self.wait, self.fails, self.asked = wait, fails, 0

    def __len__(self):
        return 150

    def __getitem__(self, index):
        time.sleep(self.wait)
        self.asked += 1
        if self.fails:
            raise OSError("gone")
        return {"x": X[index] + torch.rand(()) * 0, "y": int(Y[index])}


def fetched(dataset, paths, target, keeps_order=True):
    loader = DataLoader(dataset, 10, shuffle=True)
    iterator = iter(loader)
    info = LoaderInfo(weakref.ref(loader), "", 10, 0, "", keeps_order=keeps_order, iterator=weakref.ref(iterator))
    return whole_data.whole_data(RUN, info, paths, target)


def test_the_rows_below_a_subset_are_taken_in_their_order():
    for dataset in (TensorDataset(X, Y), Subset(TensorDataset(X, Y), [5, 3, 1] * 4)):
        inputs, targets = fetched(dataset, ("batch[0]",), "batch[1]")
        assert torch.equal(inputs, X) and torch.equal(targets, Y)


def test_a_dataset_is_asked_and_left_as_it_was():
    data = Rows()
    inputs, targets = fetched(data, ("batch['x']",), "batch['y']")
    assert torch.equal(inputs, X) and torch.equal(targets, Y)
    assert data.asked == 0


def test_what_is_slow_or_fails_or_has_an_order_of_its_own_is_left_alone():
    assert fetched(Rows(wait=0.02), ("batch['x']",), "batch['y']") is None
    assert fetched(Rows(fails=True), ("batch['x']",), "batch['y']") is None
    assert fetched(Rows(), ("batch['x']",), "batch['y']", keeps_order=False) is None
    assert fetched(TensorDataset(X, Y), ("batch[4]",), "batch[1]") is None
