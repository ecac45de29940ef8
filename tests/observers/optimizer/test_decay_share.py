"""Weight decay beside the gradient."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.optimizer.decay_share import norms
from debugtracer.trace.facts.decay_share import DecayShare
from tests.observers.told import facts, findings
from tests.watching import under_watch


def run(out, optimizer, **options):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    with under_watch(out):
        steps = optimizer(model.parameters(), lr=1e-3, **options)
        for _ in range(5):
            steps.zero_grad()
            model(torch.randn(6, 4)).mean().backward()
            steps.step()
    return facts(out, DecayShare)


@pytest.mark.parametrize(
    ("optimizer", "decoupled", "adaptive"),
    [(torch.optim.SGD, False, False), (torch.optim.Adam, False, True), (torch.optim.AdamW, True, False)],
)
def test_the_first_three_updates_are_measured(tmp_path, optimizer, decoupled, adaptive):
    found = run(tmp_path, optimizer, weight_decay=0.5)
    assert [f.number for f in found] == [0, 1, 2]
    assert {(f.kind, f.decoupled, f.adaptive, f.decay) for f in found} == {
        (optimizer.__name__, decoupled, adaptive, 0.5)
    }
    assert "optimizer(model.parameters()" in found[0].frame.code


def test_the_norms():
    weight = nn.Parameter(torch.tensor([3.0, 4.0]))
    weight.grad = torch.tensor([0.0, 2.0])
    still = nn.Parameter(torch.ones(2))
    assert norms([{"params": [weight, still], "weight_decay": 0.1}], {}) == (pytest.approx(0.5), 2.0)


def test_no_decay_is_silent_and_a_huge_one_is_told(tmp_path):
    assert run(tmp_path / "a", torch.optim.SGD) == []
    run(tmp_path / "b", torch.optim.Adam, weight_decay=50.0)
    assert [f.severity for f in findings(tmp_path / "b", "decay-dominates")] == ["warning"]


def test_a_large_decay_is_told_with_the_constant_that_says_it(tmp_path):
    pull = 40.0
    model = nn.Linear(4, 4)
    with under_watch(tmp_path):
        steps = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=pull)
        for _ in range(5):
            steps.zero_grad()
            model(torch.randn(6, 4)).mean().backward()
            steps.step()
    frames = [fact.decay_frame for fact in facts(tmp_path, DecayShare)]
    assert frames[:2] == [None, None]
    assert frames[2].code == "pull = 40.0"
