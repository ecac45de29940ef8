"""What waits at rest: numbers are published some steps at a time, in their order and at once where something else is to
go with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from debugtracer.recorder.gate import resting_steps
from debugtracer.recorder.gate.resting_steps import CLIMBS, MOST, READ_EVERY
from debugtracer.recorder.governor import FIRST_STEPS, WORDS, Part
from debugtracer.session import Session
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.store.reader import open_trace
from tests.observers.told import facts
from tests.watching import incidents, under_watch

RESTS = {"cost": 0.0, "inspect_steps": 0}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)


class Loop:
    def __init__(self, session: Session) -> None:
        torch.manual_seed(0)
        self.session = session
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.go(FIRST_STEPS)
        session.state.own_s += 100.0
        self.go(1)
        self.steps = session.events.resting.steps
        assert session.events.rests()

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(torch.randn(8, 4)).square().mean().backward()
            self.optimizer.step()


def test_numbers_wait_for_a_few_steps_and_are_counted_as_rested(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        rested = session.state.rested[WORDS[Part.OBSERVERS]]
        loop.go(MOST - 1)
        assert len(loop.steps.rows) == MOST - 1
        assert session.state.step == FIRST_STEPS + MOST
        loop.go(1)
        assert loop.steps.rows == []
        assert session.state.rested[WORDS[Part.OBSERVERS]] == rested + MOST
        loop.go(3)
    steps, _ = open_trace(tmp_path).series("grad_l2")
    assert list(steps) == list(range(FIRST_STEPS + 1 + MOST + 3))


def test_they_wait_no_longer_than_the_judge_rests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", -1.0)
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.go(2)
        assert loop.steps.rows == []


def test_a_number_of_an_observer_goes_with_its_own_step(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.go(5)
        session.observed_run.put("logged/x", 7.0)
        loop.go(1)
        assert loop.steps.rows == []
        at = session.state.step - 1
        loop.go(2)
    steps, values = open_trace(tmp_path).series("logged/x")
    assert (list(steps), list(values)) == ([at], [7.0])


def test_what_works_again_finds_losses_and_numbers_in_their_place(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.go(3)
        loss = loop.model(torch.randn(8, 4)).square().mean()
        loss.backward()
        session.events.wake()
        assert loop.steps.rows == []
        ((kept, _),) = session.tape.current.losses
        assert torch.equal(kept, loss.detach())
        assert session.tape.current.backwards == [0]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_bad_loss_is_not_taken(tmp_path: Path, value: float) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        steps = Loop(session).steps
        before = session.state.iteration
        assert not steps.take_loss(torch.tensor(value))
        assert not steps.take_loss(torch.full((2,), value))
        assert (session.state.iteration, steps.losses) == (before, [])
        assert steps.take_loss(torch.ones(2))
        assert session.state.iteration == before + 1


def test_a_new_run_begins_with_nothing_that_waits(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.go(3)
        session.events.reset()
        assert loop.steps.rows == []
        assert not session.events.rests()


class Ops(TorchDispatchMode):
    """A mode of the program."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    """Another one."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_the_norm_of_a_step_is_read_where_nothing_of_the_program_would_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        steps, optimizer = loop.steps, loop.optimizer
        loss = loop.model(torch.ones(8, 4)).square().mean()
        loss.backward()
        gradients = [p.grad for p in loop.model.parameters()]
        norm = float(torch.cat([g.flatten() for g in gradients if g is not None]).norm())
        assert steps.good_norm(optimizer) == pytest.approx(norm)
        for mode in (Ops(), Functions()):
            with mode:
                assert steps.good_norm(optimizer) is None
        with monkeypatch.context() as patched:
            patched.setattr(steps.health_gate, "gate", "sync")
            assert steps.good_norm(optimizer) is None
        with monkeypatch.context() as patched:
            patched.setattr(session.state.roots, "sharded", True)
            assert steps.good_norm(optimizer) is None
        held = optimizer.param_groups[0]["params"]
        optimizer.param_groups[0]["params"] = held[:1]
        optimizer.param_groups.append(optimizer.param_groups[0] | {"params": held[1:]})
        assert steps.good_norm(optimizer) == pytest.approx(norm)
        del optimizer.param_groups[1]
        optimizer.param_groups[0]["params"] = []
        assert steps.good_norm(optimizer) is None
        optimizer.param_groups[0]["params"] = held
        assert gradients[0] is not None
        gradients[0][0, 0] = float("inf")
        assert steps.good_norm(optimizer) is None


def test_where_their_norm_rests_the_gradients_of_some_steps_are_read_and_the_others_are_counted(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        session.governor.resting_s[Part.GRADIENTS] = -1.0
        session.governor.decide()
        loop.go(MOST)
        rested = session.state.rested.get(WORDS[Part.GRADIENTS], 0)
        assert loop.steps.rows == []
        begin = session.state.step
        session.governor.resting_s[Part.GRADIENTS] = -1.0
        loop.go(3 * READ_EVERY)
        loop.steps.publish()
        assert session.state.rested[WORDS[Part.GRADIENTS]] == rested + 3 * (READ_EVERY - 1)
        end = session.state.step
    (norms, _), (losses, _) = (open_trace(tmp_path).series(name) for name in ("grad_l2", "loss"))
    assert [step for step in norms if step >= begin] == list(range(begin, end, READ_EVERY))
    assert [step for step in losses if step >= begin] == list(range(begin, end))


def test_what_holds_updates_back_reads_every_gradient(tmp_path: Path) -> None:
    with under_watch(tmp_path, mode="dev", **RESTS) as session:
        loop = Loop(session)
        session.governor.resting_s[Part.GRADIENTS] = -1.0
        loop.go(2 * MOST)
        assert session.governor.affords(Part.GRADIENTS)
        assert loop.steps.leaves_out == 0
        end = session.state.step
    steps, _ = open_trace(tmp_path).series("grad_l2")
    assert list(steps) == list(range(end))


def test_a_bad_gradient_that_was_left_out_is_seen_by_the_loss_after_it(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.steps.leaves_out = loop.steps.to_leave_out = READ_EVERY - 1
        loop.optimizer.zero_grad()
        loop.model(torch.randn(8, 4)).square().mean().backward()
        for parameter in loop.model.parameters():
            assert parameter.grad is not None
            parameter.grad.fill_(float("nan"))
        loop.optimizer.step()
        assert session.events.rests()
        at = session.state.step
        loop.go(1)
        assert not session.events.rests()
    (found,) = incidents(tmp_path)
    assert (found.facts.ref.step, found.facts.symptom) == (at, "nan_loss")


@pytest.mark.parametrize("bad", [False, True])
def test_the_loss_in_the_closure_of_a_step_that_is_left_out_is_read_before_its_backward(
    tmp_path: Path, bad: bool
) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.steps.leaves_out = loop.steps.to_leave_out = READ_EVERY - 1
        seen = []

        def closure() -> torch.Tensor:
            loop.optimizer.zero_grad()
            loss = loop.model(torch.randn(8, 4)).square().mean() * (float("nan") if bad else 1.0)
            loss.backward()
            seen.append(torch.is_grad_enabled())
            return loss

        before = session.state.step
        returned = loop.optimizer.step(closure)  # type: ignore[arg-type]
        assert seen == [True]
        assert session.state.step == before + 1
        assert bool(torch.as_tensor(returned).isfinite()) is not bad
        if not bad:
            assert loop.steps.rows[-1].loss == torch.as_tensor(returned).item()
            assert loop.steps.rows[-1].grad_l2 is None
            assert loop.steps.to_leave_out == READ_EVERY - 2
    found = [incident.verdict.step for incident in incidents(tmp_path)]
    assert found == ([before] if bad else [])


def test_a_rate_below_zero_is_told_at_rest(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.optimizer.param_groups[0]["lr"] = -0.01
        loop.go(CLIMBS + 2)
        assert loop.steps.climbed == CLIMBS
    assert facts(tmp_path, Rate)[-1].low == -0.01
