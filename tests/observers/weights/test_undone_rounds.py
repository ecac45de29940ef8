"""Rounds of updates and what becomes of them when a state is loaded, in real loops."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.undone_round import UndoneRound
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed

Batches = list[tuple[Tensor, Tensor]]


def fitted(model: nn.Module, optimizer: Any, batches: Batches) -> None:
    for x, y in batches:
        optimizer.zero_grad()
        mse(model(x), y).backward()
        optimizer.step()


def rounds(after: Callable[..., None], number: int = 5, make: Any = torch.optim.Adam) -> Callable[[], None]:
    """Rounds of three updates; `after` gets the model, the copy, the optimizer and a batch."""

    def loop() -> None:
        model, old = net(), net()
        optimizer = make(model.parameters(), lr=0.01)
        for _ in range(number):
            with torch.no_grad():
                old(data(1)[0][0])
            fitted(model, optimizer, data(3))
            after(model, old, optimizer, data(1)[0])

    return loop


def back(model: nn.Module, old: nn.Module, *_: Any) -> None:
    model.load_state_dict(old.state_dict())


def lost(facts: list[UndoneRound]) -> list[UndoneRound]:
    """The rounds that a check would hold against the program."""
    return [f for f in facts if f.moved and f.back and not f.used and not f.outer and f.updates > 1]


@pytest.mark.parametrize("make", [torch.optim.Adam, torch.optim.SGD])
def test_a_copy_that_is_loaded_over_the_trained_model_after_each_round(tmp_path: Path, make: Any):
    facts = observed(tmp_path / "runs", rounds(back, make=make), UndoneRound)
    assert [(f.number, f.updates, f.moved, f.back, f.used, f.outer) for f in facts] == [
        (n, 3, True, True, False, False) for n in range(4)
    ]
    assert facts[0].name == "Sequential" and facts[0].params == 4
    assert facts[0].loads is not None and facts[0].loads.code == "model.load_state_dict(old.state_dict())"


def forward(model: nn.Module, old: nn.Module, optimizer: Any, batch: tuple[Tensor, Tensor]) -> None:
    """Each round is evaluated: adaptation, a rewind, the best state so far."""
    with torch.no_grad():
        model(batch[0])
    back(model, old)


def read(model: nn.Module, old: nn.Module, *_: Any) -> None:
    """A client of federated averaging."""
    copy.deepcopy(model.state_dict())
    back(model, old)


def query(model: nn.Module, old: nn.Module, optimizer: Any, batch: tuple[Tensor, Tensor]) -> None:
    """A task of first-order MAML."""
    mse(model(batch[0]), batch[1]).backward()
    back(model, old)


def reset(model: nn.Module, old: nn.Module, optimizer: Any, batch: tuple[Tensor, Tensor]) -> None:
    """The optimizer starts anew, too."""
    back(model, old)
    optimizer.load_state_dict(optimizer.state_dict())


def right(model: nn.Module, old: nn.Module, *_: Any) -> None:
    """The copy follows the trained model."""
    old.load_state_dict(model.state_dict())


def part(model: nn.Module, old: nn.Module, *_: Any) -> None:
    """An average is swapped in for an evaluation, and out again."""
    kept = copy.deepcopy(model.state_dict())
    back(model, old)
    model.load_state_dict(kept)


def reptile(model: nn.Module, old: nn.Module, *_: Any) -> None:
    """One task a step."""
    with torch.no_grad():
        for slow, fast in zip(old.parameters(), model.parameters(), strict=True):
            slow.lerp_(fast, 0.5)
    back(model, old)


@pytest.mark.parametrize("after", [forward, read, query, reset, right, part, reptile])
def test_rounds_that_serve_and_weights_that_stay_are_not_lost(tmp_path: Path, after: Callable[..., None]):
    facts = observed(tmp_path / "runs", rounds(after), UndoneRound)
    assert len(lost(facts)) <= 1


def test_weights_that_another_optimizer_trains_are_an_outer_loop(tmp_path: Path):
    def loop() -> None:
        worker, slow = net(), net()
        inner, outer = (torch.optim.SGD(m.parameters(), lr=0.01) for m in (worker, slow))
        for number in range(9):
            worker.load_state_dict(slow.state_dict())
            fitted(worker, inner, data(3))
            if number % 4 == 3:
                for p in slow.parameters():
                    p.grad = torch.ones_like(p)
                outer.step()

    assert lost(observed(tmp_path / "runs", loop, UndoneRound)) == []


def test_a_rollback_of_a_bad_step_is_one_round(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for number in range(8):
            kept = copy.deepcopy(model.state_dict())
            fitted(model, optimizer, data(2))
            if number in (3, 4):
                model.load_state_dict(kept)

    assert len(lost(observed(tmp_path / "runs", loop, UndoneRound))) <= 1


def test_an_optimizer_of_each_fold_is_another_one(tmp_path: Path):
    def loop() -> None:
        model = net()
        start = copy.deepcopy(model.state_dict())
        for _ in range(6):
            model.load_state_dict(start)
            fitted(model, torch.optim.SGD(model.parameters(), lr=0.01), data(3))

    assert lost(observed(tmp_path / "runs", loop, UndoneRound)) == []
