"""The weights with which a step began whose update is written: what a replay puts back first."""

from __future__ import annotations

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.replay.replay_context import ReplayContext


def before_update(alarm: Alarm, context: ReplayContext) -> list[UpdateCopy]:
    """Return the copy from before the update that the alarmed step has written; nothing where it has written none.

    Raises ReplayRefused where there is no such copy."""
    if alarm.late:
        raise ReplayRefused(alarm.late)
    if not alarm.written or alarm.optimizer is None:
        return []
    copy = context.copies.get(alarm.optimizer)
    if copy is None:
        why = context.copies.off.get(id(alarm.optimizer), "none was taken")
        raise ReplayRefused(f"no copy of the parameters before the update: {why}")
    return [copy]
