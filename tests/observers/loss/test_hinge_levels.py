"""Rows of margin losses, and of cuts at 0 that a program wrote itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.trace.facts.hinge_level import HingeLevel
from tests.observers.observing import observed

Loss = Callable[[Tensor, Tensor], Tensor]


def looks(out: Path, loss_of: Loss, width: int = 4) -> list[HingeLevel]:
    """What a step with this loss of two outputs emits."""

    def loop() -> None:
        torch.manual_seed(0)
        net = nn.Linear(4, width)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(2):
            loss = loss_of(net(torch.randn(16, 4)), net(torch.randn(16, 4)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return observed(out, loop, HingeLevel)


def same_point(one: Tensor, other: Tensor) -> Tensor:
    return nn.TripletMarginLoss(margin=0.5)(one, other * 0, other * 0)


def test_a_triplet_whose_sides_are_equal(tmp_path: Path):
    first, _ = looks(tmp_path / "runs", same_point)
    assert (first.function, first.rows, first.margin, first.by_hand) == ("triplet_margin_loss", 16, 0.5, False)
    assert float(first.off) < 1e-5 and first.frame is not None and "TripletMarginLoss(margin" in first.frame.code


def test_a_ranking_loss_tells_how_many_are_right(tmp_path: Path):
    def loss_of(one: Tensor, other: Tensor) -> Tensor:
        return F.margin_ranking_loss(one.sum(1) + 3, other.sum(1) * 0, torch.ones(16), margin=0.2)

    first, *_ = looks(tmp_path / "runs", loss_of)
    assert first.right > 0.5 and float(first.off) > 1 and 0 <= float(first.mean) < 0.2


CUTS: list[Callable[[Tensor], Tensor]] = [
    lambda x: F.relu(x).mean(),
    lambda x: x.clamp(min=0).mean(),
    lambda x: torch.clamp(x, min=0.0).sum(),
    lambda x: torch.max(torch.zeros(16), x).mean(),
    lambda x: torch.maximum(x, torch.zeros_like(x)).mean(),
]


@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_by_hand(tmp_path: Path, cut: Callable[[Tensor], Tensor]):
    first, _ = looks(tmp_path / "runs", lambda one, other: cut(one.norm(dim=1) * 0 + other.mean(1) * 1e-3 + 0.3))
    assert first.by_hand and first.rows == 16
    assert float(first.margin) == pytest.approx(0.3, abs=0.01) and float(first.off) < 0.01


OTHERS: list[Callable[[Tensor], Tensor]] = [
    lambda x: x.clamp(min=0.1).mean(),
    lambda x: x.clamp(min=0, max=1).mean(),
    lambda x: torch.max(x, x.flip(0)).mean(),
    lambda x: torch.max(x, torch.ones(16)).mean(),
    lambda x: F.relu(x[:4]).mean(),
    lambda x: F.relu(x - 9).sum() + x.mean(),
]


@pytest.mark.parametrize("cut", OTHERS)
def test_silent_for_other_cuts(tmp_path: Path, cut: Callable[[Tensor], Tensor]):
    assert looks(tmp_path / "runs", lambda one, other: cut(one.mean(1) + 0.3)) == []


def test_activations_are_no_losses(tmp_path: Path):
    assert looks(tmp_path / "runs", lambda one, other: F.relu(one).mean() + other.mean()) == []
