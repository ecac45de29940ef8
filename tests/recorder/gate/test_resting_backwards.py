"""A loop that writes its weights itself at rest: its numbers are those at work, its updates are counted, and a bad
gradient is looked into before the loop uses it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.gate import resting_backwards, resting_steps
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.session import Session
from debugtracer.trace.store.reader import open_trace
from tests.watching import incidents, under_watch

RESTS = {"cost": 0.0, "inspect_steps": 0}
STEPS = FIRST_STEPS + 30


class OfModule:
    """The weights of a module, written through `data`."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
        self.weights = list(self.model.parameters())

    def __call__(self, rows: Tensor) -> Tensor:
        output: Tensor = self.model(rows)
        return output


class OfItself:
    """Two leaves of the loop's own."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.weights = [torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]

    def __call__(self, rows: Tensor) -> Tensor:
        return rows @ self.weights[0] + self.weights[1]


MODELS: tuple[Callable[[], OfModule | OfItself], ...] = (OfModule, OfItself)


def step(model: OfModule | OfItself, rows: Tensor, number: int, each: int = 1) -> None:
    """One backward; every so many the weights are written."""
    model(rows).pow(2).mean().backward()
    if number % each == each - 1:
        for weight in model.weights:
            assert weight.grad is not None
            weight.data.add_(-0.01 * weight.grad)
            weight.grad = None


def trained(tmp_path: Path, make: Callable[[], OfModule | OfItself], rests: bool, each: int = 1) -> Session:
    """The session of a loop that rests from the first step that counts, or that does not."""
    with under_watch(tmp_path, **(RESTS if rests else {"cost": 1.0, "inspect_steps": 0})) as session:
        model = make()
        for number in range(STEPS):
            if rests and number == FIRST_STEPS:
                session.state.own_s += 100.0
            step(model, torch.randn(8, 4), number, each)
        assert session.events.rests() is rests
    return session


@pytest.mark.parametrize("make", MODELS)
def test_numbers_at_rest_are_those_at_work(tmp_path: Path, make: Callable[[], OfModule | OfItself]) -> None:
    for rests in (True, False):
        trained(tmp_path / str(rests), make, rests)
    for series in ("loss", "grad_l2"):
        steps, values = open_trace(tmp_path / "True").series(series)
        expected_steps, expected = open_trace(tmp_path / "False").series(series)
        # optimizers of other tests may be about at the start
        assert list(steps)[-40:] == list(expected_steps)[-40:] == list(range(STEPS))[-40:]
        assert list(values)[-40:] == pytest.approx(list(expected)[-40:], rel=1e-5)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("each", [1, 3])
def test_updates_are_counted_as_at_work(tmp_path: Path, make: Callable[[], OfModule | OfItself], each: int) -> None:
    counted = [trained(tmp_path / str(rests), make, rests, each).state.own_updates for rests in (True, False)]
    assert counted[0] == pytest.approx(counted[1], abs=1)
    assert counted[1] == STEPS // each


def test_updates_that_leave_the_last_weight_are_counted(tmp_path: Path) -> None:
    """As where the last one stands at its best."""

    class Still(OfItself):
        def __call__(self, rows: Tensor) -> Tensor:
            return rows @ self.weights[0] + 0.0 * self.weights[1]

    counted = [trained(tmp_path / str(rests), Still, rests).state.own_updates for rests in (True, False)]
    assert counted[0] == pytest.approx(counted[1], abs=1)


@pytest.mark.parametrize("moves", [True, False])
def test_all_weights_are_read_rarely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: bool) -> None:
    """Where the last stands still another is looked at, and where all do, they are read at some backward calls."""
    read: list[int] = []
    norms = resting_backwards.all_norms
    monkeypatch.setattr(resting_backwards, "all_norms", lambda tensors: read.append(1) or norms(tensors))
    with under_watch(tmp_path, **RESTS) as session:
        model = OfItself()
        for number in range(STEPS + 200):
            if number == FIRST_STEPS:
                session.state.own_s += 100.0
            model(torch.randn(8, 4)).pow(2).mean().backward()
            for weight in model.weights[: int(moves or number < FIRST_STEPS)]:
                assert weight.grad is not None
                weight.data.add_(-1e-3 * weight.grad)
            for weight in model.weights:
                weight.grad = None
        assert session.events.rests()
    assert 0 < len(read) < (4 if moves else 60)
    assert session.state.own_updates == pytest.approx(STEPS + 200 if moves else FIRST_STEPS, abs=4)


@pytest.mark.parametrize("make", MODELS)
def test_a_bad_gradient_is_looked_into(tmp_path: Path, make: Callable[[], OfModule | OfItself]) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        model = make()
        for number in range(STEPS):
            if number == FIRST_STEPS:
                session.state.own_s += 100.0
            step(model, torch.randn(8, 4), number)
        assert session.events.rests()
        torch.sqrt(model(torch.zeros(8, 4)) * 0.0).mean().backward()
        assert not session.events.rests()
        assert session.state.iteration == STEPS + 1
    (incident,) = incidents(tmp_path)
    assert incident.trace_id.endswith(f"-{STEPS}")


def test_numbers_wait_for_a_few_backward_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    with under_watch(tmp_path, **RESTS) as session:
        model = OfModule()
        for number in range(STEPS):
            if number == FIRST_STEPS:
                session.state.own_s += 100.0
            step(model, torch.randn(8, 4), number)
        rows = session.events.resting.steps.rows
        assert len(rows) > 20
        assert all(math.isfinite(row.grad_l2) for row in rows)


def test_training_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    ends = []
    for watched in (False, True):
        model = OfModule()
        if watched:
            with under_watch(tmp_path, **RESTS) as session:
                for number in range(STEPS):
                    if number == FIRST_STEPS:
                        session.state.own_s += 100.0
                    step(model, torch.full((8, 4), 0.1 * number), number)
        else:
            for number in range(STEPS):
                step(model, torch.full((8, 4), 0.1 * number), number)
        ends.append([weight.detach().clone() for weight in model.weights])
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))
