"""Which target an input of a loader comes with, pass after pass."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from debugtracer.trace.facts.moved_pairs import MovedPairs
from tests.observers.observing import fit, observed
from tests.observers.told import findings

ROWS = 320


def tensors():
    torch.manual_seed(0)
    random.seed(0)
    return torch.randn(ROWS, 3), torch.randint(2, (ROWS,))


class Drawn(Dataset):
    """A row of one side, or of both, is drawn where its index is given."""

    def __init__(self, both=False, noise=0.0):
        (self.x, self.y), self.both, self.noise = tensors(), both, noise

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        place = random.randrange(ROWS)
        x = self.x[place if self.noise == 0 else index]
        return x + self.noise * torch.randn(3), self.y[place if self.both else index]


def passes(x, y, after):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    for _ in range(5):
        for a, b in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(a), b).backward()
            optimizer.step()
        after(x, y)


def one_side(x, y):
    x.copy_(x[torch.randperm(ROWS)])


def other_side(x, y):
    y.copy_(y[torch.randperm(ROWS)])


def both(x, y):
    order = torch.randperm(ROWS)
    x.copy_(x[order])
    y.copy_(y[order])


@pytest.mark.parametrize(("after", "moved"), [(one_side, "inputs"), (other_side, "targets")])
def test_a_side_that_is_shuffled_in_place_is_told(tmp_path, after, moved):
    (fact,) = observed(tmp_path, lambda: passes(*tensors(), after), MovedPairs)
    assert (fact.moved, fact.data, fact.drawn) == (moved, "TensorDataset", False)
    assert fact.changed > fact.rows / 3
    assert [f.severity for f in findings(tmp_path, "pairs-moved")] == ["warning"]


@pytest.mark.parametrize("after", [both, lambda x, y: None])
def test_pairs_that_stay_together_are_silent(tmp_path, after):
    assert observed(tmp_path, lambda: passes(*tensors(), after), MovedPairs) == []


def test_a_row_that_is_drawn_is_told_at_its_line(tmp_path):
    (fact,) = observed(tmp_path, lambda: fit(DataLoader(Drawn(), batch_size=32), passes=6), MovedPairs)
    assert (fact.drawn, fact.frame.code) == (True, "place = random.randrange(ROWS)")


@pytest.mark.parametrize("given", [{"both": True}, {"noise": 0.1}])
def test_whole_rows_that_are_drawn_and_inputs_with_noise_are_silent(tmp_path, given):
    loader = DataLoader(Drawn(**given), batch_size=32)
    assert observed(tmp_path, lambda: fit(loader, passes=6), MovedPairs) == []
