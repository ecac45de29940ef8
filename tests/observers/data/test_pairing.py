"""Inputs and targets in the same order, in orders that are found again, and in none."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.pairing import Probe, above_chance, class_blocks, orders, restored, sorted_alone
from debugtracer.observers.data.row_features import as_columns


def drawn():
    return torch.Generator().manual_seed(1)


def table(rows=500, columns=5):
    x = torch.randn(rows, columns, generator=drawn())
    return x, (x[:, 0] - x[:, 1] * x[:, 2])[:, None].double()


X, Y = table()
BY_TEXT = torch.tensor(sorted(range(500), key=str))
GROUPS = torch.cat([X, torch.randint(0, 7, (500, 1), generator=drawn()).float()], 1)
A, B = torch.meshgrid(torch.linspace(-1, 1, 40), torch.linspace(-1, 1, 25), indexing="ij")
PLACES, FIELD = torch.stack([A.flatten(), B.flatten()], 1), torch.sin(4 * A) * torch.cos(7 * B) + A


@pytest.mark.parametrize(
    ("inputs", "targets", "order", "by"),
    [
        (X, Y.flip(0), "reversed", 0),
        (X[BY_TEXT], Y, "by-text", 0),
        (X, Y[BY_TEXT], "from-text", 0),
        (PLACES, FIELD.T.reshape(-1, 1).double(), "grid", 25),
        (GROUPS, Y[GROUPS[:, 5].argsort(stable=True)], "by-column", 5),
        (X, Y.roll(7, 0), "moved", 7),
        (X, Y.roll(-40, 0), "moved", -40),
    ],
)
def test_the_order_of_the_targets_is_found_again(inputs, targets, order, by):
    found = restored(inputs, targets, drawn())
    assert (found.order, found.by) == (order, by)
    assert found.gain > 0.5 and found.present < 0.1
    assert found.wrapped == {7: 7, -40: 40}.get(by, 0)


def white(seed):
    return torch.randn(500, 1, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("made", ["paired", "noise", "walks", "blocks", "classes-in-order"])
def test_nothing_is_found_where_nothing_was_reordered(seed, made):
    x, y = table()
    if made == "noise":
        y = white(seed)
    elif made == "walks":
        x, y = white(seed).cumsum(0), white(seed + 10).cumsum(0)
    elif made == "blocks":
        x, y = torch.cat([white(seed), white(seed + 5)], 1).cumsum(0), (white(seed + 10).cumsum(0) / 8).long()
    elif made == "classes-in-order":
        x, y = white(seed), (torch.arange(500) // 50)[:, None]
    assert restored(x, as_columns(y), drawn()) is None


def test_a_forecast_of_what_cannot_be_foretold_does_not_come_round():
    returns = white(3).flatten()
    found = restored(returns.unfold(0, 8, 1)[:-1], returns[8:, None].double(), drawn())
    assert (found.order, found.wrapped < 8) == ("moved", True)


def test_one_side_that_is_sorted_is_told():
    assert restored(X, Y.sort(0).values, drawn()).order == "targets-sorted"
    assert restored(X.sort(0).values, Y, drawn()).order == "inputs-sorted"
    assert sorted_alone(Y.sort(0).values, Y.sort(0).values) == ""
    assert sorted_alone(X, torch.arange(500)[:, None]) == ""


def test_a_probe_leaves_out_the_row_it_tells():
    share, beyond = above_chance(Probe(X), Y, drawn())
    assert share > 0.5 and beyond > 8
    share, beyond = above_chance(Probe(torch.eye(200)), torch.randn(200, 1, generator=drawn()).double(), drawn())
    assert share < 0.1 and beyond < 4


def test_each_order_names_every_row_once():
    assert all(sorted(places.tolist()) == list(range(500)) for _, _, places in orders(GROUPS))


def test_classes_that_stand_together_have_an_entropy():
    kinds, entropy = class_blocks(torch.tensor([1] * 75 + [0] * 25))
    assert kinds == 2 and abs(entropy - 0.5623) < 1e-4
    assert class_blocks(torch.tensor([1] * 75 + [0] * 24 + [1])) is None
    assert class_blocks(torch.ones(100)) is None
    assert class_blocks(torch.arange(100.0)) is None
    assert class_blocks(torch.zeros(100, 3)) is None
