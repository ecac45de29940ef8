"""Mixtures of rows and of their targets, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.trace.facts.mixed_targets import MixedTargets
from tests.observers.told import facts, findings
from tests.watching import under_watch

SHARES = (0.9, 0.2, 0.7)
Loss = Callable[[nn.Module, Tensor, Tensor, Tensor, float], Tensor]


def run(out: Path, loss_of: Loss, watched: bool = True) -> Tensor:
    torch.manual_seed(0)
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loop() -> None:
        for share in SHARES:
            x, y, index = torch.randn(8, 6), torch.randint(3, (8,)), torch.randperm(8)
            optimizer.zero_grad()
            loss_of(model, x, y, index, share).backward()
            optimizer.step()

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return model.weight.detach().clone()


def swapped(model: nn.Module, x: Tensor, y: Tensor, index: Tensor, share: float) -> Tensor:
    scores = model(share * x + (1 - share) * x[index, :])
    return share * F.cross_entropy(scores, y[index]) + (1 - share) * F.cross_entropy(scores, y)


def straight(model: nn.Module, x: Tensor, y: Tensor, index: Tensor, share: float) -> Tensor:
    scores = model(share * x + (1 - share) * x[index])
    return share * F.cross_entropy(scores, y) + (1 - share) * F.cross_entropy(scores, y[index])


def soft(model: nn.Module, x: Tensor, y: Tensor, index: Tensor, share: float) -> Tensor:
    hot = F.one_hot(y, 3).float()
    mixed = x[index] * share + x * (1 - share)
    return F.cross_entropy(model(mixed), hot * share + hot[index] * (1 - share))


def soft_straight(model: nn.Module, x: Tensor, y: Tensor, index: Tensor, share: float) -> Tensor:
    hot = F.one_hot(y, 3).float()
    mixed = x * share + x[index] * (1 - share)
    return F.cross_entropy(model(mixed), hot * share + hot[index] * (1 - share))


def two_terms(model: nn.Module, x: Tensor, y: Tensor, index: Tensor, share: float) -> Tensor:
    mixed = share * x + (1 - share) * x[index]
    return (1 - share) * F.cross_entropy(model(mixed), y) + share * F.cross_entropy(model(x[index]), y[index])


def another_order(model: nn.Module, x: Tensor, y: Tensor, index: Tensor, share: float) -> Tensor:
    scores, other = model(share * x + (1 - share) * x[index]), index.flip(0)
    return (1 - share) * F.cross_entropy(scores, y) + share * F.cross_entropy(scores, y[other])


@pytest.mark.parametrize("loss_of", [swapped, soft])
def test_exchanged_factors_are_told(tmp_path, loss_of):
    run(tmp_path, loss_of)
    seen = facts(tmp_path, MixedTargets)
    assert len(seen) == len(SHARES)
    assert all(fact.own == pytest.approx(fact.target_other) for fact in seen)
    (finding,) = findings(tmp_path, "mix-swapped")
    assert finding.severity == "warning" and finding.place.frame == seen[0].frame


@pytest.mark.parametrize("loss_of", [straight, soft_straight])
def test_the_same_factors_are_silent(tmp_path, loss_of):
    run(tmp_path, loss_of)
    assert [fact.own for fact in facts(tmp_path, MixedTargets)] == pytest.approx(SHARES)
    assert findings(tmp_path, "mix-swapped") == []


@pytest.mark.parametrize("loss_of", [two_terms, another_order])
def test_losses_of_two_predictions_and_another_permutation_are_no_pair(tmp_path, loss_of):
    run(tmp_path, loss_of)
    assert facts(tmp_path, MixedTargets) == []


def test_training_is_the_same_bit_for_bit(tmp_path):
    assert torch.equal(run(tmp_path, swapped, watched=False), run(tmp_path / "a", swapped))
