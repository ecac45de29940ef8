"""Optimizers that take turns, and such that share a backward."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.facts.turns_taken import TurnsTaken
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, order, shared=False):
    torch.manual_seed(0)
    models = [nn.Linear(4, 1) for _ in range(2)]
    with under_watch(out):
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in models]
        for which in order:
            chosen = range(2) if shared else [which]
            sum(models[n](torch.ones(3, 4)).square().mean() for n in chosen).backward()
            for n in chosen:
                optimizers[n].step()
                optimizers[n].zero_grad()
    return facts(out, TurnsTaken)


def test_the_first_turn_is_told_once(tmp_path):
    (fact,) = run(tmp_path, [0, 0, 1, 1, 0, 1, 0])
    assert (fact.ref.step, fact.optimizer, fact.other) == (4, "SGD", "SGD")
    assert "torch.optim.SGD" in fact.frame.code and fact.other_frame == fact.frame


def test_one_after_the_other_and_two_that_share_each_backward_are_silent(tmp_path):
    assert run(tmp_path / "stages", [0, 0, 0, 1, 1, 1]) == []
    assert run(tmp_path / "both", [0, 0, 0], shared=True) == []
