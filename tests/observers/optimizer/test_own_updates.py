"""What is told of loops without an optimizer."""

from __future__ import annotations

from pathlib import Path

import torch

from debugtracer.observers.optimizer.own_updates import EVERY
from debugtracer.trace.facts.own_updates import OwnUpdates
from tests.observers.loops import data, mse, net, plain
from tests.observers.observing import observed


def by_hand(steps: int, writes: bool) -> None:
    model = net()
    for x, y in data(steps):
        model.zero_grad()
        mse(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters() if writes else ():
                p -= 0.01 * p.grad


def test_updates_are_told_now_and_then_and_at_the_end(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: by_hand(EVERY + 2, writes=True), OwnUpdates)
    assert [(f.backwards, f.updates, f.trains, f.inputs) for f in facts] == [
        (EVERY, EVERY - 2, True, False),
        (EVERY + 2, EVERY + 2, True, False),
    ]
    assert facts[-1].backward_frame is not None
    assert facts[-1].backward_frame.code == "mse(model(x), y).backward()"


def test_weights_that_stand_have_none(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: by_hand(5, writes=False), OwnUpdates)
    assert (fact.backwards, fact.updates, fact.optimizers) == (5, 0, 0)


def test_a_gradient_of_the_input_is_seen(tmp_path: Path):
    def attack() -> None:
        model = net().eval()
        for x, y in data(4):
            x.requires_grad_()
            mse(model(x), y).backward()

    (fact,) = observed(tmp_path / "runs", attack, OwnUpdates)
    assert (fact.inputs, fact.trains) == (True, False)


def test_nothing_is_told_where_an_optimizer_steps(tmp_path: Path):
    assert observed(tmp_path / "runs", plain, OwnUpdates) == []


def test_an_update_that_is_bound_to_a_name_is_found(tmp_path: Path):
    def loop() -> None:
        model = net()
        for x, y in data(4):
            model.zero_grad()
            mse(model(x), y).backward()
            for p in model.parameters():
                p = p - 0.01 * p.grad

    (fact,) = observed(tmp_path / "runs", loop, OwnUpdates)
    assert fact.rebound is not None
    assert fact.rebound.code.startswith("p = p - 0.01 * p.grad")
