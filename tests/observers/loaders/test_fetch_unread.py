"""Datasets that make something of a sample and return the sample, in real sessions."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.observers.loaders.fetch_unread import as_array
from debugtracer.trace.facts.unread_value import UnreadValue
from tests.observers.told import facts, findings
from tests.watching import under_watch

# ruff: noqa: F841  (names that nobody reads are what this is about)


class Rows(Dataset):
    """Eight rows of three numbers."""

    def __init__(self):
        self.x = torch.arange(24.0).reshape(8, 3) + 1

    def __len__(self):
        return 8


class Unshaken(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        shaken = row + torch.randn(3)
        return row


class InNumpy(Rows):
    def __getitem__(self, index):
        return self.part(self.x[index].numpy())

    def part(self, row):
        scaled = row / row.max()
        return torch.from_numpy(row)


class Seldom(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        turned = turned_round(row, index)
        return row


def turned_round(row, index):
    return row.flip(0) if index % 4 == 3 else row


class Used(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        shaken = row + torch.randn(3)
        wide = row.double()
        height = len(row)
        return shaken


class Sometimes(Rows):
    def __getitem__(self, index):
        row = self.x[index]
        shaken = row + 1
        if index > 100:
            return shaken
        return row


class InPlace(Rows):
    def __getitem__(self, index):
        row = self.x[index].clone()
        row += 1
        return row


def run(out, dataset):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    with under_watch(out):
        for _ in range(2):
            for x in DataLoader(dataset, batch_size=4):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
    assert sys.getprofile() is None
    return facts(out, UnreadValue)


@pytest.mark.parametrize(("kind", "name"), [(Unshaken, "shaken"), (InNumpy, "scaled"), (Seldom, "turned")])
def test_what_is_made_of_a_sample_and_not_returned_is_told_once(tmp_path, kind, name):
    (found,) = run(tmp_path, kind())
    assert (found.name, found.how, found.like, found.fetched) == (name, "replaced", "row", True)
    assert found.like_frame.code.startswith("return")
    (finding,) = findings(tmp_path, "value-unread")
    assert finding.severity == "warning" and "in each fetch" in finding.message


def test_the_dataset_below_a_subset(tmp_path):
    (found,) = run(tmp_path, Subset(Unshaken(), range(2, 8)))
    assert found.name == "shaken"


@pytest.mark.parametrize("kind", [Used, Sometimes, InPlace])
def test_what_is_returned_is_silent(tmp_path, kind):
    assert run(tmp_path, kind()) == []


def test_what_has_numbers():
    assert as_array(np.zeros(3)).shape == as_array(torch.zeros(3)).shape == (3,)
    assert as_array([1, 2]) is None and as_array(np.float32(1)) is None and as_array("oak") is None
