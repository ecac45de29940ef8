"""Tensors that are shuffled one after the other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.diagnosis.shuffled_apart import is_order
from debugtracer.trace.facts.rows_taken import RowsTaken
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS = 64
X = torch.randn(ROWS, 5, generator=torch.Generator().manual_seed(0))
Y = X.sum(1, keepdim=True)
IDS = torch.randint(0, 30, (3, ROWS), generator=torch.Generator().manual_seed(1))


def permuted():
    return torch.randperm(ROWS)


def apart():
    return X[permuted()], Y[permuted()]


def by_numpy():
    return X[np.random.permutation(ROWS)], Y.index_select(0, permuted())


def together():
    order = permuted()
    return X[order], Y[order]


def twice_together():
    first, then = permuted(), permuted()
    return X[first][then], Y[first][then]


def inputs_alone():
    return X[permuted()], Y


def run(out, shuffled, loss_of=lambda model, x, y: F.mse_loss(model(x), y), model=None):
    torch.manual_seed(0)
    np.random.seed(0)
    model = model or nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(2):
            sides = shuffled()
            for at in range(0, ROWS, 16):
                optimizer.zero_grad()
                loss_of(model, *(side[at : at + 16] for side in sides)).backward()
                optimizer.step()
    return [fact for fact in facts(out, RowsTaken) if fact.whole]


@pytest.mark.parametrize("shuffled", [apart, by_numpy])
def test_inputs_and_targets_in_two_orders_are_told_once_with_both_lines(tmp_path, shuffled):
    (fact,) = run(tmp_path, shuffled)
    assert (fact.loss, fact.length, fact.ref.step) == ("mse_loss", ROWS, 0)
    assert fact.same < ROWS // 2 and fact.frame.function == fact.input_frame.function == shuffled.__name__
    (finding,) = findings(tmp_path, "rows-misaligned")
    assert "each put in an order of its own" in finding.message and finding.severity == "warning"


@pytest.mark.parametrize("shuffled", [together, twice_together, inputs_alone])
def test_one_order_and_one_side_alone_are_silent(tmp_path, shuffled):
    assert run(tmp_path, shuffled) == []


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 4)


def ranked(model, users, good, bad):
    user, one, other = (model.table(ids) for ids in (users, good, bad))
    return F.softplus((user * other).sum(1) - (user * one).sum(1)).mean()


def each_apart():
    return tuple(ids[permuted()] for ids in IDS)


def negatives_apart():
    order = permuted()
    return IDS[0][order], IDS[1][order], IDS[2][permuted()]


def test_factors_of_which_no_two_stand_in_one_order_are_told(tmp_path):
    (fact,) = run(tmp_path, each_apart, ranked, Factors())
    assert fact.loss in ("mul", "__mul__") and fact.frame.function.endswith("<genexpr>")


def test_negatives_in_an_order_of_their_own_are_silent(tmp_path):
    assert run(tmp_path, negatives_apart, ranked, Factors()) == []


def test_mixed_rows_are_silent(tmp_path):
    def mixed(model, x, y):
        order = torch.randperm(len(x))
        return F.mse_loss(model(0.7 * x + 0.3 * x[order]), 0.7 * y + 0.3 * y[order])

    assert run(tmp_path, together, mixed) == []


def test_an_order_holds_each_row_once_and_not_in_its_place():
    assert is_order(torch.arange(8).flip(0))
    for rows in (torch.arange(8), torch.zeros(8).long(), torch.arange(7).flip(0), torch.arange(8).flip(0).float()):
        assert not is_order(rows)


def test_values_over_all_rows_have_no_order(tmp_path):
    def moments(model, x, y):
        given = model(x)
        return F.mse_loss(given.mean(0), y.mean(0)) + F.l1_loss(given.T @ given, y.T @ y)

    assert run(tmp_path, apart, moments) == []


def test_orders_that_sort_are_meant(tmp_path):
    def by_value():
        return X[X[:, 0].numpy().argsort()], Y[Y[:, 0].numpy().argsort()]

    assert run(tmp_path, by_value) == []


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(5, 4), nn.Linear(1, 4)


@pytest.mark.parametrize(
    "together",
    [
        lambda a, b: (a * b).sum(1).mean(),
        lambda a, b: (a @ b.T).trace(),
        lambda a, b: F.cosine_similarity(*(side[torch.arange(len(a)).flip(0)] for side in (a, b))).mean(),
    ],
)
def test_negatives_beside_pairs_that_belong_together_are_silent(tmp_path, together):
    def contrasted(model, x, y):
        a, b = model.one(x), model.other(y)
        return (a[torch.randperm(len(a))] * b[torch.randperm(len(b))]).sum(1).mean() - together(a, b)

    assert run(tmp_path, lambda: (X, Y), contrasted, Towers()) == []


def test_the_same_without_pairs_that_belong_together_is_told(tmp_path):
    def negatives(model, x, y):
        a, b = model.one(x), model.other(y)
        return (a[torch.randperm(len(a))] * b[torch.randperm(len(b))]).sum(1).mean()

    assert len(run(tmp_path, lambda: (X, Y), negatives, Towers())) == 1
