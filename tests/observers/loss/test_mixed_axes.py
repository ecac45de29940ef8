"""Rows of scores that hold several positions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.mixed_axes import MixedAxes
from tests.observers.told import facts, findings
from tests.watching import under_watch


def cut_wrongly(scores, y):
    return F.cross_entropy(scores.reshape(-1, 5), y.view(-1))


def of_log_probabilities(scores, y):
    return F.nll_loss(F.log_softmax(scores.reshape(-1, 5), 1), y.view(-1))


def of_a_slice(scores, y):
    every = torch.cat([y, y])
    return F.cross_entropy(scores.reshape(-1, 5), every[:4].view(-1))


def moved(scores, y):
    return F.cross_entropy(scores.movedim(1, -1).reshape(-1, 5), y.view(-1))


def whole(scores, y):
    return F.cross_entropy(scores, y)


def other_targets(scores, y):
    return F.cross_entropy(scores.reshape(-1, 5), y.reshape(2, -1).clone().view(-1))


def run(out, loss_of, positions=7):
    model = nn.Conv1d(3, 5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model(torch.randn(4, 3, positions)), torch.randint(5, (4, positions))).backward()
            optimizer.step()
    return facts(out, MixedAxes)


@pytest.mark.parametrize("loss_of", [cut_wrongly, of_log_probabilities, of_a_slice])
def test_rows_of_several_positions_are_told_once(tmp_path, loss_of):
    (found,) = run(tmp_path, loss_of)
    assert (found.function, found.shape, found.classes) == ("reshape", (4, 5, 7), 5)
    assert found.frame.function == loss_of.__name__
    assert [f.severity for f in findings(tmp_path, "axes-mixed")] == ["warning"]


@pytest.mark.parametrize("loss_of", [moved, whole, other_targets])
def test_rows_of_one_position_are_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []


def test_a_length_that_is_a_multiple_is_told_by_the_targets(tmp_path):
    assert len(run(tmp_path, of_a_slice, positions=10)) == 1


def test_a_square_says_nothing(tmp_path):
    assert run(tmp_path, cut_wrongly, positions=5) == []
