"""What sigmoids and softmaxes are given, in real loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.squashed_again import SquashedAgain
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, last, loss_of):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4), *last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(2):
            loss = loss_of(model(torch.randn(8, 6)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, SquashedAgain)


def by_function(x):
    return torch.sigmoid(x).square().mean()


def of_a_view(x):
    return x.reshape(-1).sigmoid().square().mean()


def normalised(x):
    return x.softmax(-1).square().mean()


@pytest.mark.parametrize(
    ("last", "loss_of", "pair"),
    [
        (nn.Sigmoid(), by_function, ("sigmoid", "sigmoid", 0, "Sigmoid")),
        (nn.Sigmoid(), of_a_view, ("sigmoid", "sigmoid", 0, "Sigmoid")),
        (nn.Softmax(1), by_function, ("softmax", "sigmoid", 0, "Softmax")),
        (nn.Softmax(1), normalised, ("softmax", "softmax", 4, "Softmax")),
    ],
)
def test_what_is_squashed_twice(last, loss_of, pair, tmp_path):
    found = run(tmp_path, [last], loss_of)
    assert [fact.ref.step for fact in found] == [0, 1]
    assert (found[0].inner, found[0].outer, found[0].classes, found[0].inner_module) == pair
    assert found[0].frame.function == loss_of.__name__ and found[0].inner_frame.function == "run"


def weighed(x):
    return torch.sigmoid(4 * x - 2).square().mean()


def both_ways(x):
    return x.softmax(0).square().mean()


def gates(x):
    return (x / x.sum(-1, keepdim=True)).square().mean()


def of_a_constant(x):
    return (torch.sigmoid(torch.sigmoid(torch.randn(8, 4))) * x).mean()


@pytest.mark.parametrize(
    ("last", "loss_of"),
    [
        ([nn.Sigmoid()], weighed), ([nn.Softmax(1)], both_ways), ([nn.Sigmoid()], gates), ([nn.Sigmoid()], normalised),
        ([nn.Sigmoid(), nn.Linear(4, 4)], by_function), ([nn.Tanh()], by_function), ([], of_a_constant),
    ],
)  # fmt: skip
def test_everything_else_is_silent(last, loss_of, tmp_path):
    assert run(tmp_path, last, loss_of) == []


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    model = nn.Sequential(nn.Linear(6, 4), nn.Sigmoid())
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["squashed-again"]
        model(torch.randn(8, 6))
        assert observer.made
        session.dispatcher.missed()
        assert not observer.made
