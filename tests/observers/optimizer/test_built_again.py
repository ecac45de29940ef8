"""Optimizers and schedulers that are built again in a real session."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR, StepLR
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.built_again import BuiltAgain
from tests.observers.observing import observed


def data(count: int = 24) -> TensorDataset:
    return TensorDataset(torch.randn(count, 3), torch.randint(2, (count,)))


def update(model: nn.Module, optimizer: Optimizer, x: torch.Tensor, y: torch.Tensor) -> None:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()


def test_one_of_each_batch(tmp_path: Path):
    def loop() -> None:
        model = nn.Linear(3, 2)
        for _ in range(4):
            for x, y in DataLoader(data(), batch_size=8):
                optimizer = Adam(model.parameters(), lr=0.01)
                update(model, optimizer, x, y)

    (fact,) = observed(tmp_path / "runs", loop, BuiltAgain)
    assert (fact.what, fact.kind, fact.built, fact.steps) == ("optimizer", "Adam", 8, 1)
    assert fact.frame is not None and fact.frame.code.startswith("optimizer = Adam(")


@pytest.mark.parametrize("make", [lambda p: AdamW(p, lr=0.01), lambda p: SGD(p, lr=0.01, momentum=0.9)])
def test_one_of_each_pass(tmp_path: Path, make: Callable[[Any], Optimizer]):
    def loop() -> None:
        model, loader = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)), DataLoader(data(60), batch_size=10)
        for _ in range(5):
            optimizer = make(model.parameters())
            for x, y in loader:
                update(model, optimizer, x, y)

    (fact,) = observed(tmp_path / "runs", loop, BuiltAgain)
    assert (fact.built, fact.steps, fact.in_pass) == (4, 6, True)


def one_of_each_task(model: nn.Module) -> None:
    for _ in range(6):
        loader, optimizer = DataLoader(data(60), batch_size=10), Adam(model.parameters(), lr=0.01)
        for _ in range(2):
            for x, y in loader:
                update(model, optimizer, x, y)


def test_one_of_each_task_lies_in_no_pass(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: one_of_each_task(nn.Linear(3, 2)), BuiltAgain)
    assert not fact.in_pass


def weights_put_back(model: nn.Module) -> None:
    first = copy.deepcopy(model.state_dict())
    for _ in range(12):
        optimizer = Adam(model.parameters(), lr=0.01)
        for _ in range(3):
            update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))
        with torch.no_grad():  # Reptile: a step towards what was learned
            for name, p in model.named_parameters():
                first[name] += 0.5 * (p - first[name])
                p.data.copy_(first[name])


def drawn_anew(model: nn.Module) -> None:
    for _ in range(12):
        model.reset_parameters()  # type: ignore[operator]
        optimizer = Adam(model.parameters(), lr=0.01)
        for _ in range(3):
            update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))


def another_model(model: nn.Module) -> None:
    for _ in range(12):
        fold = copy.deepcopy(model)
        optimizer = Adam(fold.parameters(), lr=0.01)
        for _ in range(2):
            update(fold, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))


def another_rate(model: nn.Module) -> None:
    for turn in range(12):
        optimizer = Adam(model.parameters(), lr=0.01 * 0.9**turn)
        update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))


def without_moments(model: nn.Module) -> None:
    for _ in range(12):
        optimizer = SGD(model.parameters(), lr=0.01)
        update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))


def state_handed_on(model: nn.Module) -> None:
    state = None
    for _ in range(12):
        optimizer = Adam(model.parameters(), lr=0.01)
        if state is not None:
            optimizer.load_state_dict(state)
        update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))
        state = optimizer.state_dict()


def twice_restarted(model: nn.Module) -> None:
    for _ in range(3):
        optimizer = Adam(model.parameters(), lr=0.01)
        for _ in range(6):
            update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))


SILENT = [
    weights_put_back, drawn_anew, another_model, another_rate, without_moments, state_handed_on, twice_restarted,
]  # fmt: skip


@pytest.mark.parametrize("loop", SILENT)
def test_silent(tmp_path: Path, loop: Callable[[nn.Module], None]):
    assert observed(tmp_path / "runs", lambda: loop(nn.Linear(3, 2)), BuiltAgain) == []


def scheduled(make: Callable[[Optimizer], Any], calls: int, once: bool = False) -> Callable[[], None]:
    """Six rounds, each with a scheduler of its own."""

    def loop() -> None:
        model = nn.Linear(3, 2)
        optimizer = SGD(model.parameters(), lr=0.1)
        scheduler = make(optimizer)
        for _ in range(6):
            scheduler = scheduler if once else make(optimizer)
            for _ in range(calls):
                update(model, optimizer, torch.randn(8, 3), torch.randint(2, (8,)))
                scheduler.step()

    return loop


@pytest.mark.parametrize(
    ("make", "horizon"), [(lambda o: StepLR(o, 3), 3), (lambda o: LambdaLR(o, lambda n: 0.5**n), None)]
)
def test_a_scheduler_of_each_round(tmp_path: Path, make: Callable[[Optimizer], Any], horizon: int | None):
    (fact,) = observed(tmp_path / "runs", scheduled(make, 1), BuiltAgain)
    assert (fact.what, fact.built, fact.calls, fact.horizon) == ("scheduler", 4, 1, horizon)
    assert fact.rate == pytest.approx(0.1)


@pytest.mark.parametrize(
    "loop",
    [
        scheduled(lambda o: CosineAnnealingLR(o, 5), 5),  # warm restarts that are meant
        scheduled(lambda o: OneCycleLR(o, 0.1, total_steps=6), 6),
        scheduled(lambda o: StepLR(o, 1, 0.9), 1),  # each moves the rate
        scheduled(lambda o: StepLR(o, 3), 1, once=True),
    ],
)
def test_a_scheduler_that_lives_is_silent(tmp_path: Path, loop: Callable[[], None]):
    assert observed(tmp_path / "runs", loop, BuiltAgain) == []
