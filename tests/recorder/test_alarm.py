"""Facts about alarms: what a recorder hands over lets the step be looked into without the loop's help."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.step_tape import Segment
from tests.recorder.watched import Watched


def test_an_alarm_is_of_its_step_unless_it_says_that_it_is_late() -> None:
    alarm = Alarm("nan_loss", Segment(3), 7, 5)
    assert (alarm.iteration, alarm.step, alarm.microbatch, alarm.late, alarm.at_scale_one) == (7, 5, 0, "", False)


def test_an_alarm_in_the_second_step_holds_the_segment_before_it() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        for scale in (1.0, float("nan")):
            (model(torch.randn(2, 3)).mean() * scale).backward()
            first = watched.tape.current
            if not watched.alarms:
                optimizer.step()
    alarm = watched.alarms[0]
    assert alarm.segment is first
    assert alarm.previous is not None
    assert alarm.previous.number == alarm.segment.number - 1
    assert (alarm.step, alarm.iteration, alarm.microbatch) == (1, 1, 0)
    assert alarm.slot is not None
    assert alarm.segment.entries[alarm.slot.entry].function.__name__ == "mul"
    assert alarm.frames
