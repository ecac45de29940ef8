"""Builds the alarm of a gate: what a replay needs of the segment that went bad."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.step_tape import Segment, Tape
from debugtracer.trace.incident import Symptom


def gate_alarm(
    tape: Tape,
    symptom: Symptom,
    optimizer: Optimizer,
    segment: Segment | None = None,
    *,
    written: bool = False,
    late: str = "",
    step: int | None = None,
    grad_l2: float | None = None,
) -> Alarm:
    """Build an alarm for the current segment or an older one."""
    tape.record_deferred()
    older = segment is not None and segment is not tape.current
    segment = segment or tape.current
    loss, slot = segment.losses[-1] if segment.losses else (None, None)
    return Alarm(
        symptom,
        segment,
        segment.first_iteration + max(len(segment.backwards) - 1, 0),
        step if step is not None else segment.first_step,
        microbatch=max(len(segment.backwards) - 1, 0),
        optimizer=optimizer,
        grad_l2=grad_l2,
        frames=raw_frames(),
        previous=None if older else tape.previous,
        loss=loss,
        slot=slot,
        written=written or symptom == "bad_update",
        late=late,
    )
