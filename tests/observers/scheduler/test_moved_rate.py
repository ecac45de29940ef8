"""The fact of a rate that has moved, or is no number."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from debugtracer.observers.scheduler.moved_rate import undefined
from debugtracer.trace.facts.schedule import RateMoved
from tests.observers.loops import data, mse, net
from tests.observers.observing import facts, observed


def optimizer_at(*rates: object) -> torch.optim.Optimizer:
    """One group for each rate, built with 0.1."""
    optimizer = torch.optim.SGD([{"params": nn.Linear(2, 1).parameters()} for _ in rates], lr=0.1)
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
    return optimizer


@pytest.mark.parametrize(
    ("rates", "word"),
    [
        ((0.1,), ""),
        ((0, torch.tensor(0.1)), ""),
        ((0.1, math.nan), "NaN"),
        ((math.inf, 0.1), "infinite"),
        ((torch.tensor(math.nan),), "NaN"),
        (((-0.1) ** 0.9,), "complex"),
    ],
)
def test_what_a_rate_is_in_a_word(rates: tuple[object, ...], word: str):
    assert undefined(optimizer_at(*rates)) == word


def test_a_rate_that_has_not_moved_is_no_fact(tmp_path: Path):
    def loop() -> None:
        optimizer = torch.optim.SGD((model := net()).parameters(), lr=0.01)
        (mse(model(data(1)[0][0]), data(1)[0][1]) * float("nan")).backward()
        optimizer.step()

    assert observed(tmp_path, loop, RateMoved) == []


def poly(power_of_numpy: bool, by_hand: bool = False, steps: int = 8):
    """A polynomial decay that ends two updates before the run."""

    def factor(step: int) -> float:
        left = 1 - step / (steps - 2)
        return math.nan if power_of_numpy and left < 0 else left**0.9

    def loop() -> None:
        torch.manual_seed(0)
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = None if by_hand else LambdaLR(optimizer, factor)
        for step, (x, y) in enumerate(data(steps)):
            if by_hand:
                for group in optimizer.param_groups:
                    group["lr"] = 0.01 * factor(step)
            loss = mse(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if scheduler is not None:
                scheduler.step()

    return loop


def test_a_rate_that_is_nan_is_told_with_the_update_that_it_spoils(tmp_path: Path):
    (fact,) = observed(tmp_path, poly(power_of_numpy=True), RateMoved)
    assert (fact.undefined, fact.now, float(fact.before), fact.step, fact.scheduler) == (
        "NaN",
        "NaN",
        0.0,
        7,
        "LambdaLR",
    )
    assert fact.scheduler_frame is not None
    assert fact.scheduler_frame.code == "return math.nan if power_of_numpy and left < 0 else left**0.9"


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_rate_that_is_complex_is_told_as_the_program_dies_of_it(tmp_path: Path, by_hand: bool):
    with pytest.raises(RuntimeError, match="complex"):
        observed(tmp_path, poly(power_of_numpy=False, by_hand=by_hand), RateMoved)
    (fact,) = facts(tmp_path, RateMoved)
    assert (fact.undefined, fact.kind, fact.scheduler) == ("complex", "SGD", "" if by_hand else "LambdaLR")
    assert (fact.written is not None) == by_hand


def test_a_rate_that_no_update_has_used_is_not_why_the_program_died(tmp_path: Path):
    """The schedule goes one step past its end, then the evaluation fails."""

    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = LambdaLR(optimizer, lambda step: math.nan if step == 4 else 1.0)
        for x, y in data(4):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            scheduler.step()
        raise KeyError(2)

    with pytest.raises(KeyError):
        observed(tmp_path, loop, RateMoved)
    assert facts(tmp_path, RateMoved) == []
