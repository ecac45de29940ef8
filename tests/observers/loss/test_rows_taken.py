"""Rows that are taken by index, of the inputs and of the targets."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.rows_taken import RowsTaken
from tests.observers.told import facts, findings
from tests.watching import under_watch

X, Y = torch.randn(40, 4), torch.randn(40, 2)


def by_file_order(model, rows):
    return F.mse_loss(model(X[rows]), Y[:8])


def through_a_module(model, rows):
    return torch.nn.L1Loss()(model(X[rows].float()), Y.index_select(0, rows.sort().values))


def of_the_output(model, rows):
    return F.mse_loss(model(X)[rows.numpy()], Y[rows.flip(0).tolist()])


def the_same(model, rows):
    return F.mse_loss(model(X[rows]), Y[rows])


def a_forecast(model, rows):
    begin = int(rows[0]) % 20
    return F.mse_loss(model(X[begin : begin + 8]), Y[begin + 3 : begin + 11])


def of_one_tensor(model, rows):
    return F.mse_loss(model(X[rows])[:, :2], X[rows.flip(0), :2])


def mixed(model, rows):
    x, y = X[rows], Y[rows]
    return F.mse_loss(model(x), y) + F.mse_loss(model(x), y[torch.randperm(8)])


def run(out, loss_of):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2) if loss_of is not of_one_tensor else torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.randperm(40)[:8]).backward()
            optimizer.step()
    return facts(out, RowsTaken)


@pytest.mark.parametrize("loss_of", [by_file_order, through_a_module, of_the_output])
def test_other_rows_are_told_with_their_lines(tmp_path, loss_of):
    found = run(tmp_path, loss_of)
    assert [f.ref.step for f in found] == [0, 1, 2]
    assert {(f.frame.function, f.input_frame.function, f.length, f.rows) for f in found} == {
        (loss_of.__name__, loss_of.__name__, 40, 8)
    }
    assert all(f.same < 4 and not f.shifted for f in found)
    assert [f.severity for f in findings(tmp_path, "rows-misaligned")] == ["warning"]


@pytest.mark.parametrize("loss_of", [the_same, a_forecast, of_one_tensor, mixed])
def test_rows_that_belong_together_are_silent(tmp_path, loss_of):
    assert all(f.same == f.rows or f.shifted for f in run(tmp_path, loss_of))
    assert findings(tmp_path, "rows-misaligned") == []
