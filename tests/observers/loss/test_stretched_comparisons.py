"""Answers and labels that an evaluation compares in pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.loss_call import LossCall
from tests.observers.observing import observed

Compare = Callable[[Tensor, Tensor], Any]


def compared(out: Path, compare: Compare) -> list[LossCall]:
    """What an evaluation after each step emits."""

    def loop() -> None:
        model = nn.Linear(3, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(4):
            x, y = torch.randn(8, 3), torch.randint(4, (8,))
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            with torch.no_grad():
                compare(model(x), y)

    return [fact for fact in observed(out, loop, LossCall) if fact.loss == "eq"]


def keepdim(scores: Tensor, y: Tensor) -> Tensor:
    return (scores.argmax(1, keepdim=True) == y).sum()


def topk(scores: Tensor, y: Tensor) -> Tensor:
    return y.eq(scores.topk(1).indices).float().mean()


def rounded(scores: Tensor, y: Tensor) -> Tensor:
    return torch.eq(scores.sum(1, keepdim=True).round(), y).sum()


@pytest.mark.parametrize("compare", [keepdim, topk, rounded])
def test_a_column_of_answers_is_told_once(tmp_path: Path, compare: Compare) -> None:
    (fact,) = compared(tmp_path / "runs", compare)
    assert {fact.input_shape, fact.target_shape} == {(8, 1), (8,)} and fact.broadcast
    assert fact.frame is not None and fact.frame.function == compare.__name__


def pairs(scores: Tensor, y: Tensor) -> Tensor:
    return y[:, None] == y


def other_pairs(scores: Tensor, y: Tensor) -> Tensor:
    return scores.argmax(1).unsqueeze(1) == y


def best_two(scores: Tensor, y: Tensor) -> Tensor:
    return scores.topk(2).indices.t().eq(y.view(1, -1).expand(2, 8))


def plain(scores: Tensor, y: Tensor) -> Tensor:
    return scores.argmax(1) == y


def one_hot(scores: Tensor, y: Tensor) -> Tensor:
    return torch.arange(4) == y[:, None]


@pytest.mark.parametrize("compare", [pairs, other_pairs, best_two, plain, one_hot])
def test_silent(tmp_path: Path, compare: Compare) -> None:
    assert compared(tmp_path / "runs", compare) == []


def subtracted(out: Path, of_batch: bool) -> list[LossCall]:
    """What an evaluation emits that subtracts targets of a loader, or others, from a column of answers."""

    def loop() -> None:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in DataLoader(TensorDataset(torch.randn(24, 3), torch.randn(24)), batch_size=8):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x).squeeze(1), y).backward()
            optimizer.step()
            with torch.no_grad():
                (model(x) - (y if of_batch else y * 2)).abs().mean()

    return [fact for fact in observed(out, loop, LossCall) if fact.loss == "sub"]


def test_an_error_of_a_column_from_targets_of_a_batch_is_told_once(tmp_path: Path) -> None:
    (fact,) = subtracted(tmp_path / "runs", of_batch=True)
    assert {fact.input_shape, fact.target_shape} == {(8, 1), (8,)} and fact.broadcast and not fact.input_grad


def test_other_differences_of_a_column_may_be_meant(tmp_path: Path) -> None:
    assert subtracted(tmp_path / "runs", of_batch=False) == []
