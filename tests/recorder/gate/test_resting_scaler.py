"""Steps of a GradScaler at rest: counted as at work, their numbers are those at work, and what the scaler skips is
looked into."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate.resting_steps import READ_EVERY
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.session import Session
from debugtracer.trace.store.reader import open_trace
from tests.watching import incidents, under_watch

SCALE = 8.0


class Loop:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, growth_interval=10**6)

    def go(self, steps: int, factor: float = 1.0) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.scaler.scale(self.model(torch.randn(8, 4)).square().mean()).backward()
            for parameter in self.model.parameters():
                assert parameter.grad is not None
                parameter.grad *= factor
            self.scaler.step(self.optimizer)
            self.scaler.update()


def trained(tmp_path: Path, rests: bool) -> tuple[Session, Loop]:
    with under_watch(tmp_path, cost=0.0 if rests else 1.0, inspect_steps=0) as session:
        loop = Loop()
        loop.go(FIRST_STEPS)
        session.state.own_s += 100.0 if rests else 0.0
        loop.go(20)
        assert session.events.rests() is rests
        assert session.gate.good_scale[loop.scaler] == SCALE
    return session, loop


def test_numbers_at_rest_are_those_at_work(tmp_path: Path) -> None:
    for rests in (True, False):
        session, _ = trained(tmp_path / str(rests), rests)
        assert session.state.step == FIRST_STEPS + 20
    for name in ("loss", "grad_l2", "scale", "lr"):
        of_both = [open_trace(tmp_path / str(rests)).series(name) for rests in (True, False)]
        (steps, values), (expected_steps, expected) = of_both
        assert list(steps) == list(expected_steps) == list(range(FIRST_STEPS + 20))
        assert list(values) == pytest.approx(list(expected), rel=1e-5)


@pytest.mark.parametrize("left_out", [True, False])
def test_a_skipped_update_is_counted_whether_or_not_its_norm_was_read(tmp_path: Path, left_out: bool) -> None:
    with under_watch(tmp_path, cost=0.0, inspect_steps=0) as session:
        loop = Loop()
        loop.go(FIRST_STEPS)
        session.state.own_s += 100.0
        loop.go(2)
        steps = session.events.resting.steps
        steps.leaves_out = steps.to_leave_out = READ_EVERY - 1 if left_out else 0
        before, weights = session.state.step, loop.model.weight.detach().clone()
        loop.go(1, factor=math.inf)
        assert (session.state.step, session.state.skipped) == (before + 1, 1)
        assert torch.equal(loop.model.weight, weights)
        assert session.gate.skips[loop.scaler] == 1
        loop.go(1)
        assert not torch.equal(loop.model.weight, weights)
        assert session.gate.skips[loop.scaler] == 0
    (found,) = incidents(tmp_path)
    assert (found.facts.ref.step, found.facts.symptom) == (before, "inf_grad")
    steps_of_losses, _ = open_trace(tmp_path).series("loss")
    assert list(steps_of_losses) == list(range(before + 2))


def test_a_disabled_or_unused_scaler_leaves_steps_alone(tmp_path: Path) -> None:
    with under_watch(tmp_path, cost=0.0, inspect_steps=0) as session:
        loop = Loop()
        loop.scaler = torch.amp.GradScaler("cpu", enabled=False)
        loop.go(FIRST_STEPS)
        session.state.own_s += 100.0
        loop.go(10)
        assert session.events.rests()
        assert session.state.step == FIRST_STEPS + 10
