"""Whole steps at rest: one of some is looked at, the others are counted; what goes bad meanwhile is told by the next
one that is looked at."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate import resting_steps
from debugtracer.recorder.gate.passed_steps import LOOKED_AT_EVERY, PassedSteps
from debugtracer.recorder.governor import FIRST_STEPS, WORDS, Part
from debugtracer.session import Session
from debugtracer.trace.store.reader import open_trace
from tests.watching import incidents, under_watch

RESTS = {"cost": 0.0, "inspect_steps": 0}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    monkeypatch.setattr(resting_steps, "MOST", 8)


class Loop:
    """Rests as deep as it can."""

    def __init__(self, session: Session, by_hand: bool = False) -> None:
        torch.manual_seed(0)
        self.session, self.by_hand = session, by_hand
        self.model = nn.Linear(4, 1)
        self.optimizer = None if by_hand else torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.steps, self.passed = session.events.resting.steps, session.events.passed
        self.go(FIRST_STEPS)
        session.state.own_s += 100.0
        self.go(1)

    def go(self, steps: int, scale: float = 1.0) -> None:
        for _ in range(steps):
            self.model.zero_grad()
            (self.model(torch.randn(8, 4)).square().mean() * scale).backward()
            if self.optimizer is not None:
                self.optimizer.step()
                continue
            with torch.no_grad():
                for parameter in self.model.parameters():
                    assert parameter.grad is not None
                    parameter -= 0.01 * parameter.grad

    def deep(self) -> None:
        """Go on until whole steps rest, up to a step that was looked at."""
        while not self.passed.each or self.passed.to_come != self.passed.each or self.steps.rows:
            self.session.governor.resting_s.update(dict.fromkeys(self.session.governor.resting_s, -0.34))
            self.session.governor.balance_s = -1.0
            self.go(1)
            assert self.session.state.step < 4000


@pytest.mark.parametrize("by_hand", [False, True])
def test_one_of_some_is_looked_at_and_all_are_counted(tmp_path: Path, by_hand: bool) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session, by_hand)
        loop.deep()
        step, iteration, own = session.state.step, session.state.iteration, session.state.own_updates
        before = dict(session.state.rested)
        loop.go(3 * LOOKED_AT_EVERY)
        assert (session.state.step, session.state.iteration) == (step + 51, iteration + 51)
        assert session.state.own_updates == own + 51 * by_hand, "the weight had moved at each look"
        assert len(loop.steps.rows) == 3
        assert all(0 < row.step_s < 0.5 for row in loop.steps.rows)
        loop.steps.publish()
        for part in (Part.STEPS, Part.GRADIENTS):
            assert session.state.rested[WORDS[part]] == before.get(WORDS[part], 0) + 48
        assert session.state.rested[WORDS[Part.OBSERVERS]] == before[WORDS[Part.OBSERVERS]] + 51
    for name in ("loss", "grad_l2"):
        steps, _ = open_trace(tmp_path).series(name)
        assert [at for at in steps if at >= step] == [step + 16, step + 33, step + 50]


def test_the_run_folder_counts_every_step_and_says_how_many_rested(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.deep()
        loop.go(100)
        steps = session.state.step
    ended = [json.loads(line) for line in next(tmp_path.rglob("events.jsonl")).read_text().splitlines()][-1]
    assert "whole steps" in json.dumps(ended)
    assert steps in ended.values()


@pytest.mark.parametrize("by_hand", [False, True])
def test_what_goes_bad_is_told_by_the_next_that_is_looked_at(tmp_path: Path, by_hand: bool) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session, by_hand)
        loop.deep()
        loop.go(3)
        loop.go(1, scale=float("nan"))
        step = session.state.iteration
        loop.go(LOOKED_AT_EVERY)
        assert not session.events.rests()
        assert session.state.step == session.state.iteration == step + LOOKED_AT_EVERY
    (found,) = incidents(tmp_path)
    assert found.facts.symptom == "nan_loss"
    assert step < found.facts.ref.step <= step + LOOKED_AT_EVERY


@pytest.mark.parametrize("wakes", [lambda loop: loop.model.eval(), lambda loop: loop.session.events.wake()])
def test_who_wakes_in_between_loses_no_count(tmp_path: Path, wakes: Callable[[Loop], None]) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        loop.deep()
        step = session.state.step
        loop.go(5)
        wakes(loop)
        assert loop.passed.to_come == 0
        loop.go(1)
        assert session.state.step == step + 6
        assert 0 < session.state.step_s < 0.5
    steps, _ = open_trace(tmp_path).series("loss")
    assert step + 5 in steps


def test_the_scheduler_s_count_stays_exact(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        assert loop.optimizer is not None
        heard = []
        scheduler = torch.optim.lr_scheduler.StepLR(loop.optimizer, 10_000)
        loop.go(1)
        scheduler.step()
        loop.deep()
        events = loop.passed.events
        loop.passed.events = type("Heard", (), {"step_closed": lambda self, optimizer: heard.append(optimizer)})()
        loop.go(4)
        loop.passed.events = events
        assert heard == [loop.optimizer] * 4


def test_a_scaler_answers_for_each_step(tmp_path: Path) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session)
        assert loop.optimizer is not None
        loop.deep()
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
        for _ in range(40):
            loop.model.zero_grad()
            scaler.scale(loop.model(torch.randn(8, 4)).square().mean()).backward()
            scaler.step(loop.optimizer)
            scaler.update()
            session.governor.balance_s = -1.0
            session.governor.resting_s.update(dict.fromkeys(session.governor.resting_s, -0.34))
        assert loop.passed.each == loop.passed.to_come == 0
        first, last = session.state.step - 40, session.state.step
    steps, _ = open_trace(tmp_path).series("loss")
    assert [at for at in steps if at >= first] == list(range(first, last))


@pytest.mark.parametrize("mode", ["dev", "val", "prod"])
def test_what_holds_updates_back_looks_at_each(tmp_path: Path, mode: str) -> None:
    with under_watch(tmp_path, mode=mode, **RESTS) as session:
        loop = Loop(session)
        session.governor.resting_s.update(dict.fromkeys(session.governor.resting_s, -0.34))
        loop.go(60)
        assert not loop.passed.each


def test_a_reset_forgets_all() -> None:
    passed = PassedSteps(*(object(),) * 2)  # type: ignore[arg-type]
    passed.keep_all()
    passed.rest(True)
    assert passed.each == 0
    passed.reset()
    passed.rest(True)
    assert (passed.each, passed.passes) == (LOOKED_AT_EVERY - 1, True)
    assert passed.looked_at(2.0) == 2.0
    assert passed.to_come == LOOKED_AT_EVERY - 1
    assert not passed.end(), "none was passed over yet"
    assert passed.take() == (0, 0.0)


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_weights_are_bit_for_bit_those_of_a_bare_run(tmp_path: Path, by_hand: bool) -> None:
    with under_watch(tmp_path, **RESTS) as session:
        loop = Loop(session, by_hand)
        loop.deep()
        loop.go(5 * LOOKED_AT_EVERY + 3)
        steps, watched = session.state.iteration, [p.detach().clone() for p in loop.model.parameters()]
        drawn = torch.randn(3)
    bare = object.__new__(Loop)
    torch.manual_seed(0)
    bare.by_hand, bare.model = by_hand, nn.Linear(4, 1)
    bare.optimizer = None if by_hand else torch.optim.SGD(bare.model.parameters(), lr=0.01)
    bare.go(steps)
    assert all(torch.equal(a, b) for a, b in zip(watched, bare.model.parameters(), strict=True))
    assert torch.equal(drawn, torch.randn(3)), "the generator stands where it would"
