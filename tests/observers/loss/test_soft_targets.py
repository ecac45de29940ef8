"""Soft targets and labels of one prediction, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.soft_target import SoftTarget
from tests.observers.observing import observed

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def divergence(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
    return F.kl_div(F.log_softmax(scores / 3, 1), F.softmax(soft / 3, 1), reduction="batchmean") + F.cross_entropy(
        scores, labels
    )


def modules(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
    both = nn.KLDivLoss(reduction="batchmean", log_target=True)(scores.log_softmax(1), soft.log_softmax(1))
    return both + nn.NLLLoss()(scores.log_softmax(1), labels)


def squares(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
    return F.mse_loss(scores, soft.to(scores.dtype)) + F.cross_entropy(scores, labels)


def mixture(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(scores, soft.softmax(-1)) + F.cross_entropy(scores, labels)


def data() -> TensorDataset:
    torch.manual_seed(0)
    return TensorDataset(torch.randn(40, 4), torch.randint(3, (40,)))


def learn(loss_of: Loss, soft_of: Callable[[nn.Module, int, Tensor], Tensor], cached: bool = True) -> None:
    """A student of a frozen teacher, over a shuffled loader."""
    loader = DataLoader(data(), batch_size=8, shuffle=True)
    teacher, student = nn.Linear(4, 3).eval(), nn.Linear(4, 3)
    optimizer = torch.optim.SGD(student.parameters(), lr=1e-2)
    kept: list[Tensor] = []
    if cached:
        with torch.no_grad():
            for x, _ in loader:
                kept.append(teacher(x))
    for number, (x, labels) in enumerate(loader):
        soft = kept[number] if cached else soft_of(teacher, number, x)
        loss = loss_of(student(x), soft, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize("loss_of", [divergence, modules, squares, mixture])
def test_kept_outputs_with_the_samples_of_both(tmp_path: Path, loss_of: Loss):
    seen = observed(tmp_path / "runs", lambda: learn(loss_of, no_call), SoftTarget)
    assert [f.number for f in seen] == [*range(len(seen))] and len(seen) >= 2
    labels = data().tensors[1]
    for fact in seen:
        assert (fact.classes, len(fact.soft), len(fact.samples), len(fact.made_of)) == (3, 8, 8, 8)
        assert fact.hard == tuple(labels[list(fact.samples)].tolist()) and fact.samples != fact.made_of
        assert 1 / 3 < fact.top < 1
        assert fact.frame is not None and fact.frame.code.startswith("soft = kept[number]")
        assert fact.made is not None and "teacher(x)" in fact.made.code


def no_call(teacher: nn.Module, number: int, x: Tensor) -> Tensor:
    raise AssertionError


def called_now(teacher: nn.Module, number: int, x: Tensor) -> Tensor:
    with torch.no_grad():
        return teacher(x)


def averaged_now(teacher: nn.Module, number: int, x: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.stack([teacher(x), teacher(x.flip(1))]).mean(0)


def by_hand(teacher: nn.Module, number: int, x: Tensor) -> Tensor:
    return x @ torch.ones(4, 3)


@pytest.mark.parametrize("soft_of", [called_now, averaged_now, by_hand])
def test_what_is_computed_in_the_step_is_silent(tmp_path: Path, soft_of: Any):
    assert observed(tmp_path / "runs", lambda: learn(divergence, soft_of, cached=False), SoftTarget) == []


def test_rows_by_index_have_the_line_of_the_index(tmp_path: Path):
    table = torch.randn(40, 3)

    def looked_up(teacher: nn.Module, number: int, x: Tensor) -> Tensor:
        return table[8 * number : 8 * number + 8]

    (fact, *_) = observed(tmp_path / "runs", lambda: learn(divergence, looked_up, cached=False), SoftTarget)
    assert fact.frame is not None and fact.frame.code.startswith("return table[") and fact.made_of == ()


def two_heads(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
    return F.kl_div(F.log_softmax(scores.flip(1), 1), soft.softmax(1)) + F.cross_entropy(scores, labels)


def drawn_twice(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
    """R-Drop: the target is the network's own."""
    return F.kl_div(F.log_softmax(scores, 1), scores.softmax(1).detach()) + F.cross_entropy(scores, labels)


@pytest.mark.parametrize("loss_of", [two_heads, drawn_twice])
def test_another_prediction_or_its_own_is_silent(tmp_path: Path, loss_of: Loss):
    assert observed(tmp_path / "runs", lambda: learn(loss_of, no_call), SoftTarget) == []


def test_labels_that_do_not_count_are_left_out(tmp_path: Path):
    def part(scores: Tensor, soft: Tensor, labels: Tensor) -> Tensor:
        return divergence(scores, soft, torch.where(labels == 0, -100, labels))

    seen = observed(tmp_path / "runs", lambda: learn(part, no_call), SoftTarget)
    assert all(0 not in f.hard and len(f.hard) == len(f.soft) for f in seen) and seen
