"""A loop that writes its weights itself at rest: its numbers are those at work, its updates are counted, and a bad
gradient is looked into before the loop uses it."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.gate import resting_backwards, resting_steps
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.recorder.run_state import RunState
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


def alone(trained: list[Tensor], sharded: bool = False, made_anew: bool = False) -> resting_backwards.RestingBackwards:
    """Without a session: what the last backward has trained is told."""
    state = RunState()
    state.roots = SimpleNamespace(sharded=sharded)  # type: ignore[assignment]
    told = SimpleNamespace(last=lambda: trained, made_anew=made_anew)
    gate: Any = SimpleNamespace(state=state, trained=told)
    return resting_backwards.RestingBackwards(gate, SimpleNamespace())  # type: ignore[arg-type]


def test_it_can_rest_where_all_that_was_trained_is_plain_and_at_hand() -> None:
    plain, weight = torch.ones(1, requires_grad=True), nn.Parameter(torch.ones(1))
    own = torch.ones(1).as_subclass(type("Own", (Tensor,), {}))
    assert alone([plain, weight]).can_begin()
    assert not alone([]).can_begin()
    assert not alone([plain], sharded=True).can_begin()
    assert not alone([plain], made_anew=True).can_begin()
    assert not alone([plain, own]).can_begin()
    assert not alone([plain, torch.ones(1, device="meta")]).can_begin()


def test_an_update_is_counted_where_a_weight_has_moved_and_that_one_is_looked_at_from_then_on() -> None:
    rests, tensors = alone([]), [torch.ones(1), torch.ones(1), torch.ones(1)]

    def seen() -> tuple[int, int, int]:
        place = rests.place
        rests.count(tensors, (id(tensors[place]), float(tensors[place])))
        return rests.state.own_updates, rests.still, rests.place

    assert seen() == (1, 0, -1), "nothing is known of before"
    assert seen() == (1, 1, -1)
    assert seen() == (1, 2, -1)
    tensors[0] += 1
    tensors[1] += 1
    assert seen() == (2, 0, 1), "the last that moved"
    tensors[1] += 1
    assert seen() == (3, 0, 1)
    assert rests.norms is None
    assert seen() == (3, 1, 1)


def test_where_nothing_moves_for_long_all_weights_are_read_at_one_of_sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    rests, tensors, read = alone([]), [torch.ones(1)], []
    norms = resting_backwards.all_norms
    monkeypatch.setattr(resting_backwards, "all_norms", lambda of: read.append(rests.still) or norms(of))
    for _ in range(70):
        rests.count_of_all(tensors)
    assert read == [*range(32), 32, 48, 64]
    tensors.append(torch.ones(1))
    rests.still = 80
    rests.count_of_all(tensors)
    assert (rests.state.own_updates, rests.still, rests.place) == (1, 0, 1), "one more than before is a change"


def test_the_norm_is_that_of_the_gradients_where_all_can_be_read_at_once() -> None:
    rests, tensors = alone([]), [torch.ones(1), torch.ones(2), torch.ones(1)]
    assert rests.good_norm(tensors) is None, "no gradients"
    tensors[0].grad, tensors[1].grad = torch.tensor([12.0]), torch.tensor([3.0, 4.0])
    assert rests.good_norm(tensors) == pytest.approx(13.0)
    assert rests.weight == (id(tensors[2]), 1.0)
    rests.place = 1
    rests.good_norm(tensors)
    assert rests.weight is not None and rests.weight[0] == id(tensors[1])
    rests.place = 3
    rests.good_norm(tensors)
    assert rests.weight[0] == id(tensors[2])
    own = torch.ones(1).as_subclass(type("Own", (Tensor,), {}))
    assert rests.good_norm([*tensors, own]) is None
    assert rests.good_norm([*tensors, torch.ones(1, device="meta")]) is None
    for place in (0, 2):
        counted, bad = rests.state.own_updates, [*tensors]
        if place:
            bad[2] = torch.tensor([math.inf])
        else:
            tensors[1].grad = torch.tensor([3.0, math.nan])
        assert rests.good_norm(bad) is None
        assert rests.state.own_updates == counted
        tensors[1].grad = torch.tensor([3.0, 4.0])


def test_a_root_call_trains_what_it_trained_as_long_as_that_is_there() -> None:
    rests, module, weight = alone([]), nn.Linear(1, 1), torch.ones(1)
    told: list[nn.Module] = []
    rests.trained.roots, rests.trained.called = {}, {}  # type: ignore[assignment]
    rests.trained.entered = told.append  # type: ignore[method-assign,assignment]
    rests.entered(module)
    assert (told, rests.trained.called) == ([module], {})
    held = (weakref.ref(weight),)
    rests.trained.roots = {module: held}  # type: ignore[assignment]
    rests.entered(module)
    assert (told, rests.trained.called) == ([module], {id(module): held})
    rests.trained.called = {}
    del weight
    rests.entered(module)
    assert (told, rests.trained.called) == ([module, module], {})


def deep(session: Session, model: OfModule) -> int:
    """Train until root calls rest; the steps so far."""
    for number in range(STEPS + 200):
        if number == FIRST_STEPS:
            session.state.own_s += 100.0
        step(model, torch.randn(8, 4), number)
        if session.events.calls.rests:
            return number + 1
    raise AssertionError("root calls do not rest")


def test_where_root_calls_rest_a_bad_gradient_is_looked_into_and_updates_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 0.0)
    with under_watch(tmp_path, **RESTS) as session:
        model = OfModule()
        done = deep(session, model)
        for number in range(10):
            step(model, torch.randn(8, 4), number)
        assert session.state.own_updates == pytest.approx(done + 10, abs=1)
        handle = model.weights[0].register_hook(lambda grad: grad * float("nan"))
        model(torch.randn(8, 4)).pow(2).mean().backward()
        handle.remove()
        assert not session.events.rests()
        assert session.state.step == done + 11
    (found,) = incidents(tmp_path)
    assert (found.facts.ref.step, found.facts.symptom) == (done + 10, "inf_grad")
