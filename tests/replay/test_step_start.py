"""What a replay puts back before a step whose update is written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.state.copies import Copies
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.step_start import StepStart, step_start
from debugtracer.trace.incident import Symptom


def alarmed(symptom: Symptom = "nan_loss", **said: Any) -> tuple[Alarm, Any, torch.optim.Optimizer]:
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
    alarm = Alarm(symptom, Segment(5), 0, 0, optimizer=optimizer, **said)
    return alarm, SimpleNamespace(copies=Copies(2**20, 0.02), ring=Ring(), whole=False), optimizer


class Ring:
    """Snapshots, of which that of segment 2 is of other parameters."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def fits(self, snapshot: Any) -> bool:
        return bool(snapshot.number != 2)


def test_a_step_that_has_written_nothing_needs_none() -> None:
    assert step_start(*alarmed()[:2]) == StepStart([])


def test_one_that_has_begins_with_its_copy() -> None:
    alarm, context, optimizer = alarmed(written=True)
    context.copies.take(optimizer, optimizer.param_groups[0]["params"], 1.0)
    assert step_start(alarm, context) == StepStart([context.copies.get(optimizer)])


@pytest.mark.parametrize(("why", "said"), [("too dear", "too dear"), ("", "none was taken")])
def test_without_a_copy_it_is_refused_and_why_is_said(why: str, said: str) -> None:
    alarm, context, optimizer = alarmed(written=True)
    if why:
        context.copies.stop(optimizer, why)
    with pytest.raises(ReplayRefused, match=f"no copy of the parameters before the update: {said}"):
        step_start(alarm, context)


def test_a_state_that_is_gone_is_said() -> None:
    with pytest.raises(ReplayRefused, match="gone"):
        step_start(*alarmed(written=True, late="gone")[:2])


@pytest.mark.parametrize(("numbers", "back"), [((0, 2, 6), 5), ((0, 3), 2), ((5,), 0)])
def test_without_a_copy_the_last_snapshot_before_it_serves(numbers: tuple[int, ...], back: int) -> None:
    alarm, context, _ = alarmed(written=True)
    context.ring.held = [SimpleNamespace(number=n, copies=[n]) for n in numbers]
    assert step_start(alarm, context) == StepStart([5 - back], back)


@pytest.mark.parametrize(("symptom", "whole"), [("bad_update", False), ("nan_loss", True)])
def test_a_snapshot_shows_no_update_of_the_step_and_none_of_gathered_weights(symptom: Symptom, whole: bool) -> None:
    alarm, context, _ = alarmed(symptom, written=True)
    context.whole, context.ring.held = whole, [SimpleNamespace(number=0, copies=[0])]
    with pytest.raises(ReplayRefused):
        step_start(alarm, context)
