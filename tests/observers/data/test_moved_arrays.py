"""Which target each input of stored arrays has, some steps apart."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from debugtracer.trace.facts.moved_pairs import MovedPairs
from tests.observers.observing import observed
from tests.observers.told import findings

ROWS = 400


def apart(x, y, rng):
    rng.shuffle(x)
    rng.shuffle(y)
    return x, y


def one_side(x, y, rng):
    return x[rng.permutation(ROWS)], y


def together(x, y, rng):
    order = rng.permutation(ROWS)
    return x[order], y[order]


def stays(x, y, rng):
    return x, y


def program(shuffle):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 6)).astype("float32")
    y = x[:, 0] - x[:, 1]
    model = nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(11):
        x, y = shuffle(x, y, rng)
        for start in range(0, ROWS, 40):
            a, b = torch.from_numpy(x[start : start + 40]), torch.from_numpy(y[start : start + 40])
            optimizer.zero_grad()
            nn.functional.mse_loss(model(a).squeeze(1), b).backward()
            optimizer.step()


@pytest.mark.parametrize(("shuffle", "moved"), [(apart, "both"), (one_side, "inputs")])
def test_sides_that_are_shuffled_apart_are_told(tmp_path, shuffle, moved):
    (fact,) = observed(tmp_path, lambda: program(shuffle), MovedPairs)
    assert (fact.moved, fact.rows, fact.data) == (moved, ROWS, "x and y")
    assert [f.severity for f in findings(tmp_path, "pairs-moved")] == ["warning"]


@pytest.mark.parametrize("shuffle", [together, stays])
def test_one_order_for_both_is_silent(tmp_path, shuffle):
    assert observed(tmp_path, lambda: program(shuffle), MovedPairs) == []
