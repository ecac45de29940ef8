"""Losses that are overwritten before their backward."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.overwritten_loss import OverwrittenLoss
from tests.observers.told import facts, findings
from tests.watching import under_watch


def overwritten(model, x, y):
    loss = 0
    for row in range(len(x)):
        loss = F.mse_loss(model(x[row]), y[row])
    return loss


def added(model, x, y):
    loss = 0
    for row in range(len(x)):
        loss += F.mse_loss(model(x[row]), y[row])
    return loss


def the_least(model, x, y):
    return min([F.mse_loss(model(x), y.roll(shift, 0)) for shift in range(3)])


def for_the_log(model, x, y):
    F.l1_loss(model(x), y)
    return F.mse_loss(model(x), y)


def inner_steps(model, x, y):
    for number in range(3):
        loss = F.mse_loss(model(x), y)
        if number < 2:
            torch.autograd.grad(loss, model.weight, retain_graph=True)
    return loss


def run(out, loss_of, steps=4):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model, torch.randn(6, 4), torch.randn(6, 4)).backward()
            optimizer.step()
    return facts(out, OverwrittenLoss)


def test_losses_of_which_the_last_alone_is_used_are_told(tmp_path):
    found = run(tmp_path, overwritten)
    assert [(f.ref.step, f.calls, f.loss) for f in found] == [
        (0, 6, "mse_loss"),
        (1, 6, "mse_loss"),
        (2, 6, "mse_loss"),
    ]
    assert len(findings(tmp_path, "loss-overwritten")) == 1


@pytest.mark.parametrize("loss_of", [added, for_the_log, inner_steps])
def test_losses_that_are_used_are_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []


def test_the_least_of_several_is_no_fault(tmp_path):
    found = run(tmp_path, the_least, steps=4)
    assert all(f.is_least or not f.only_last for f in found)
    assert findings(tmp_path, "loss-overwritten") == []


def test_an_accumulated_backward_counts(tmp_path):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(4):
            for _ in range(3):
                F.mse_loss(model(torch.randn(6, 4)), torch.randn(6, 4)).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert facts(tmp_path, OverwrittenLoss) == []
