"""The weights with which a step began whose update is written: what a replay puts back first."""

from __future__ import annotations

from typing import NamedTuple

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.replay.replay_context import ReplayContext


class StepStart(NamedTuple):
    """What a replay puts back."""

    copies: list[UpdateCopy]
    """Weights and optimizer state; nothing where they are still those of the step."""
    steps_back: int = 0
    """How many steps before the alarmed one they were taken."""


def step_start(alarm: Alarm, context: ReplayContext) -> StepStart:
    """Return the copy from before the update that the alarmed step has written, else the last snapshot before it.

    Raises ReplayRefused where there is neither."""
    if alarm.late:
        raise ReplayRefused(alarm.late)
    if not alarm.written or alarm.optimizer is None:
        return StepStart([])
    copy = context.copies.get(alarm.optimizer)
    if copy is not None:
        return StepStart([copy])
    number = alarm.segment.number
    older = [] if context.whole else [s for s in context.ring.held if s.number <= number and context.ring.fits(s)]
    if older and alarm.symptom != "bad_update":
        return StepStart(older[-1].copies, number - older[-1].number)
    why = context.copies.off.get(id(alarm.optimizer), "none was taken")
    raise ReplayRefused(f"no copy of the parameters before the update: {why}")
