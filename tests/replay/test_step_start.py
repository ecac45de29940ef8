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
from debugtracer.replay.step_start import before_update


def alarmed(**said: Any) -> tuple[Alarm, Any, torch.optim.Optimizer]:
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
    alarm = Alarm("nan_loss", Segment(0), 0, 0, optimizer=optimizer, **said)
    return alarm, SimpleNamespace(copies=Copies(2**20, 0.02)), optimizer


def test_a_step_that_has_written_nothing_needs_none() -> None:
    assert before_update(*alarmed()[:2]) == []


def test_one_that_has_begins_with_its_copy() -> None:
    alarm, context, optimizer = alarmed(written=True)
    context.copies.take(optimizer, optimizer.param_groups[0]["params"], 1.0)
    assert before_update(alarm, context) == [context.copies.get(optimizer)]


@pytest.mark.parametrize(("why", "said"), [("too dear", "too dear"), ("", "none was taken")])
def test_without_a_copy_it_is_refused_and_why_is_said(why: str, said: str) -> None:
    alarm, context, optimizer = alarmed(written=True)
    if why:
        context.copies.stop(optimizer, why)
    with pytest.raises(ReplayRefused, match=f"no copy of the parameters before the update: {said}"):
        before_update(alarm, context)


def test_a_state_that_is_gone_is_said() -> None:
    with pytest.raises(ReplayRefused, match="gone"):
        before_update(*alarmed(written=True, late="gone")[:2])
