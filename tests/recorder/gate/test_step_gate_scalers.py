"""What the gate does with a scaler that leaves updates out: which are looked into, and who is told."""

from __future__ import annotations

import contextlib
import math

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate import step_gate as module
from debugtracer.recorder.listeners import NoPolicy
from tests.recorder.watched import Watched


class Policy(NoPolicy):
    """Answers what the test says, and keeps what it is told."""

    def __init__(self, **answers) -> None:
        self.answers, self.told = answers, []

    def skip_step(self):
        return self.answers.get("skip_step", False)

    def skip_write(self):
        return self.answers.get("skip_write", False)

    def holds(self, optimizer, obstacle=""):
        self.told.append("asked")
        return self.answers.get("holds", False)

    def scaler_failed(self, optimizer, times):
        self.told.append(("failed", times))

    def scale_too_high(self, optimizer, scaler, times):
        self.told.append(("too high", times))


class Scaler:
    """Stands for a scaler."""


def a_gate(**answers):
    watched = Watched(policy=Policy(**answers))
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
    return watched, watched.gate, optimizer, Scaler()


def skips(times=1, scale=None, worked=None, rechecks=0, quiet=False, before=0):
    watched, gate, optimizer, scaler = a_gate()
    gate.rechecks, watched.state.quiet_until_healthy = rechecks, quiet
    gate.skips[scaler] = before
    if worked is not None:
        gate.good_scale[scaler] = worked
    for _ in range(times):
        gate.consider_skip(scaler, optimizer, scale)
    return len(watched.alarms), gate.rechecks


@pytest.mark.parametrize(
    ("told", "looked"),
    [
        ({"scale": 8.0, "worked": 8.0}, 1),
        ({"scale": 8.1, "worked": 8.0}, 0),
        ({"scale": 8.0}, 0),
        ({"scale": None, "worked": 8.0}, 0),
        ({"scale": 4.0, "worked": 8.0, "quiet": True}, 0),
        ({"scale": 4.0, "worked": 8.0, "before": 1}, 0),
        ({"scale": 4.0, "worked": 8.0, "rechecks": module.RECHECKS - 1}, 1),
        ({"scale": 4.0, "worked": 8.0, "rechecks": module.RECHECKS}, 0),
    ],
)
def test_a_skip_at_a_scale_that_worked_is_looked_into(told, looked):
    assert skips(**told) == (looked, told.get("rechecks", 0) + looked)


def test_so_is_one_that_repeats():
    for count in range(1, 40):
        assert skips(before=count - 1)[0] == (count in module.RECHECK_SKIPS), count


def test_an_alarm_about_a_scaler_is_replayed_at_scale_one():
    watched, gate, optimizer, scaler = a_gate()
    gate.good_scale[scaler] = 8.0
    gate.consider_skip(scaler, optimizer, 8.0)
    assert watched.alarms[0].scaler is scaler and watched.alarms[0].at_scale_one is True


def test_the_scale_that_worked_is_that_of_the_gate_or_of_a_late_reading():
    watched, gate, _, scaler = a_gate()
    assert gate.worked(scaler) == 0.0
    watched.health_gate.reads.worked_scale[scaler] = 4.0
    assert gate.worked(scaler) == 4.0
    gate.scaler_wrote(scaler, None)
    assert gate.worked(scaler) == 4.0 and gate.skips[scaler] == 0
    gate.scaler_wrote(scaler, 2.0)
    assert gate.worked(scaler) == 2.0


@pytest.mark.parametrize(
    ("scale", "quiet", "told"),
    [(1.0, False, "failed"), (0.5, False, "failed"), (1.1, False, "too high"), (2.0, True, "failed"),
     (None, False, "too high")],
)  # fmt: skip
def test_a_step_left_out_at_scale_one_is_no_search(scale, quiet, told):
    watched, gate, optimizer, scaler = a_gate()
    watched.state.quiet_until_healthy = quiet
    gate.scaler_skipped(scaler, optimizer, scale)
    assert gate.policy.told == [(told, 1)] and watched.state.skipped == 1 and watched.state.step == 1


@pytest.mark.parametrize("answers", [{"skip_step": True}, {"skip_write": True}, {}])
def test_a_scaler_is_not_asked_while_a_step_waits(answers):
    _, gate, optimizer, scaler = a_gate(**answers)
    ran = gate.scaler_step(scaler, lambda scaler, optimizer: "ran", (optimizer,), {}, 2.0)
    assert ran == (None if answers else "ran")


@pytest.mark.parametrize(("bad", "holds", "ran"), [(True, True, None), (True, False, "ran"), (False, True, "ran")])
def test_a_bad_update_of_a_scaler_is_held_back_where_somebody_does(monkeypatch, bad, holds, ran):
    monkeypatch.setattr(module, "leave_out_of_scaler", lambda scaler, optimizer: None)
    watched, gate, optimizer, scaler = a_gate(holds=holds)
    watched.tape.current.losses = [(torch.tensor(math.nan if bad else 1.0), None)]
    given = gate.scaler_step(scaler, lambda scaler, optimizer: "ran", (optimizer,), {}, 2.0)
    assert given == ran and ("asked" in gate.policy.told) is bad and watched.state.step == 1
    assert gate.scaler_call is None


@pytest.mark.parametrize(("bad", "holds", "written"), [(True, True, False), (True, False, True), (False, True, True)])
def test_a_bad_update_is_held_back_where_somebody_does(bad, holds, written):
    watched, gate, optimizer, _ = a_gate(holds=holds)
    watched.health_gate.before = lambda optimizer: contextlib.nullcontext()
    watched.state.health.bad = bad
    ran = []
    gate.gate(optimizer, lambda optimizer: ran.append(1), (), {})
    assert bool(ran) is written and ("asked" in gate.policy.told) is bad


def test_a_new_run_begins_without_a_scaler_and_without_a_step():
    watched, gate, _, scaler = a_gate()
    gate.scaler_wrote(scaler, 2.0)
    gate.rechecks = watched.state.skipped = 3
    watched.state.step_s = 2.0
    gate.reset()
    assert (gate.rechecks, watched.state.skipped, watched.state.step_s, gate.worked(scaler)) == (0, 0, 0.0, 0.0)
