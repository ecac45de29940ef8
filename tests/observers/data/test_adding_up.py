"""Columns that add up to a target."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.adding_up import adding_up


def table(columns=6, rows=40):
    torch.manual_seed(3)
    x = torch.randn(rows, columns, dtype=torch.float64)
    x[:, 2] = x[:, 1] + 0.3 * x[:, 2]
    return x - x.mean(0)


def test_two_related_columns_that_hold_it():
    x = table()
    assert adding_up(x, 2 * x[:, 2] - x[:, 1]) == (1, 2)
    assert adding_up(x, 2 * x[:, 2] - x[:, 1] + 1e-7 * torch.randn(40, dtype=torch.float64)) == (1, 2)


@pytest.mark.parametrize(
    ("x", "weights"),
    [
        (table(), [0, 2, 0, 1, 0, 0]),
        (table(), [1, 2, 1, 1, 0, 0]),
        (table(4), [0, 2, 1, 0]),
        (table(rows=17), [0, 2, 1, 0, 0, 0]),
        (table(), [0, 0, 0, 0, 0, 0]),
    ],
    ids=["drawn apart", "four of them", "a small table", "few rows", "nothing"],
)
def test_toys_and_full_sums_are_no_leak(x, weights):
    assert adding_up(x, x @ torch.tensor(weights, dtype=torch.float64)) == ()


def test_a_target_with_noise_and_a_constant_column():
    x = table()
    assert adding_up(x, 2 * x[:, 2] - x[:, 1] + 1e-3 * torch.randn(40, dtype=torch.float64)) == ()
    x[:, 5] = 0
    assert adding_up(x, 2 * x[:, 2] - x[:, 1]) == (1, 2)
