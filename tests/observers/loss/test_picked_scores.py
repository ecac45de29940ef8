"""Picks from log-probabilities, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from debugtracer.observers.loss.picked_scores import by_index, dimension
from debugtracer.trace.facts.picked_scores import PickedScores
from tests.observers.observing import observed

N, C = 12, 5


def training(likelihood: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], None]:
    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Linear(4, C)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(4):
            x = torch.randn(N, 4)
            optimizer.zero_grad()
            likelihood(model(x), torch.arange(N) % C).mean().backward()
            optimizer.step()

    return loop


def gathered(dim: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda scores, target: -F.log_softmax(scores, dim=dim).gather(1, target[:, None])


def test_a_softmax_over_the_batch_does_not_sum_to_1_over_the_classes(tmp_path: Path):
    facts = observed(tmp_path / "runs", training(gathered(0)), PickedScores)
    assert [(f.number, f.maker.dim, f.dim, f.size, f.picks) for f in facts] == [(n, 0, 1, C, N) for n in range(3)]
    assert float(facts[0].high) < 0.95
    assert facts[0].frame is not None and "gather" in facts[0].frame.code


@pytest.mark.parametrize(
    "likelihood",
    [
        gathered(1),
        gathered(-1),
        lambda scores, target: -F.log_softmax(scores, 1)[torch.arange(N), target],
        lambda scores, target: -F.log_softmax(scores, 1).view(3, 4, C).gather(2, target.view(3, 4, 1)),
    ],
)
def test_one_dimension_for_both_sums_to_1(tmp_path: Path, likelihood: Callable[[Tensor, Tensor], Tensor]):
    facts = observed(tmp_path / "runs", training(likelihood), PickedScores)
    assert len(facts) == 3
    assert all(abs(float(f.low) - 1) < 1e-5 and abs(float(f.high) - 1) < 1e-5 for f in facts)


@pytest.mark.parametrize(
    "likelihood",
    [
        lambda scores, target: scores.gather(1, target[:, None]),
        lambda scores, target: -F.log_softmax(scores, 0)[:, 0],
        lambda scores, target: -F.log_softmax(scores, 0).exp().gather(1, target[:, None]),
    ],
)
def test_slices_and_other_scores_say_nothing(tmp_path: Path, likelihood: Callable[[Tensor, Tensor], Tensor]):
    assert observed(tmp_path / "runs", training(likelihood), PickedScores) == []


def test_along_which_dimension_one_is_picked():
    scores, target = torch.zeros(4, 3), torch.tensor([0, 2, 1, 0])
    assert dimension("gather", (scores, -1, target[:, None]), {}) == 1
    assert dimension("gather", (scores,), {"dim": 1, "index": target[:, None]}) == 1
    assert dimension("gather", (scores, 1, torch.zeros(4, 2, dtype=torch.long)), {}) is None  # two of each
    assert dimension("take_along_dim", (scores, target[:, None], 1), {}) == 1
    assert by_index(scores, (torch.arange(4), target)) == 1
    assert by_index(scores, (torch.tensor([3, 1, 0]), torch.arange(3))) == 0
    assert by_index(scores, (target, target)) is None or by_index(scores, (torch.arange(4), target[:3])) is None


def test_a_diagonal_belongs_to_both_dimensions():
    assert by_index(torch.zeros(3, 3), (torch.arange(3), torch.arange(3))) is None
