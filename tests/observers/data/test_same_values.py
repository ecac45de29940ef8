"""Steps that are given one and the same data, in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.same_values import SameValues
from tests.observers.told import facts
from tests.watching import under_watch

X = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
Y = X.sum(1)


def run(out: Path, batch, steps: int = 220, watched: bool = True) -> Tensor:
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def loop() -> None:
        for step in range(steps):
            x, y = batch(step)
            loss = nn.functional.mse_loss(net(x)[:, 0], y)
            (net(x).detach() > 0).float().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return net.weight.detach().clone()


def shuffled(step):
    order = torch.randperm(64)
    return X[order], Y[order]


def cut(step):
    return X[8 * step % 64 :][:8], Y[8 * step % 64 :][:8]


@pytest.mark.parametrize("batch", [lambda step: (X, Y), shuffled])
def test_the_whole_set_in_any_order_is_told_once(tmp_path, batch):
    run(tmp_path, batch)
    (fact,) = facts(tmp_path, SameValues)
    assert (fact.looks, fact.same) == (3, True)


@pytest.mark.parametrize("batch", [cut, lambda step: (X, Y + step), lambda step: (torch.randn(64, 4), Y)])
def test_other_rows_targets_or_draws_are_silent(tmp_path, batch):
    run(tmp_path, batch)
    assert facts(tmp_path, SameValues) == []


def test_a_later_step_that_is_given_others_takes_it_back(tmp_path):
    run(tmp_path, lambda step: (X, Y) if step < 150 else (X, 2 * Y), steps=400)
    first, last = facts(tmp_path, SameValues)
    assert first.same and not last.same and last.ref.step > first.ref.step


def test_training_is_the_same_with_and_without(tmp_path):
    assert torch.equal(run(tmp_path, shuffled), run(tmp_path, shuffled, watched=False))
