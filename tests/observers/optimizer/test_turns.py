"""Optimizers that take turns, and such that share a backward."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.turns_taken import TurnsTaken
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, order, **settings):
    """Train these of two models after each backward; what is told, and whether it is still listened to at the end."""
    torch.manual_seed(0)
    models = [nn.Linear(4, 1) for _ in range(2)]
    with under_watch(out, **settings) as session:
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in models]
        for which in order:
            chosen = [int(n) for n in which]
            sum(models[n](torch.ones(3, 4)).square().mean() for n in chosen).backward()
            for n in chosen:
                optimizers[n].step()
                optimizers[n].zero_grad()
        dispatcher = session.dispatcher
        heard = bool(dispatcher.listeners["optimizer_changed"])
    return facts(out, TurnsTaken), heard


def test_the_first_turn_is_told_once(tmp_path):
    (fact,), heard = run(tmp_path, "0011010")
    assert not heard
    assert (fact.ref.step, fact.optimizer, fact.other) == (4, "SGD", "SGD")
    assert "torch.optim.SGD" in fact.frame.code and fact.other_frame == fact.frame


def test_one_after_the_other_and_two_that_share_each_backward_are_silent(tmp_path):
    assert run(tmp_path / "stages", "000111") == ([], True)
    assert run(tmp_path / "both", ["01"] * 3) == ([], True)


def test_a_turn_is_heard_also_where_all_rests(tmp_path):
    (fact,), heard = run(tmp_path, "0" * 40 + "1" * 8 + "01", cost=0.0, inspect_steps=0)
    assert fact.ref.step == 48 and not heard


@pytest.mark.parametrize(("rounds", "heard"), [(63, True), (64, False)])
def test_optimizers_that_share_each_backward_are_not_heard_for_ever(tmp_path, rounds, heard):
    assert run(tmp_path, ["01"] * rounds) == ([], heard)


def test_one_that_joins_another_after_some_of_its_backward_calls_takes_no_turns(tmp_path):
    """The other has stepped alone in between, and again after the same backward."""
    assert run(tmp_path, ["0", "0", "01", "0", "0", "01", "0"]) == ([], True)
