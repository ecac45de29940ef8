"""A step that died of an exception about its values becomes an incident; the program ends of its own."""

from __future__ import annotations

from time import perf_counter

from debugtracer.diagnosis.incidents import Incidents
from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.raised import investigate_raised


def look_into_raised(incidents: Incidents, alarm: Alarm, error: BaseException) -> None:
    """Open an incident where the birth of a bad value is found. Raises ReplayRefused."""
    begin, state = perf_counter(), incidents.state
    with state.investigated(), incidents.stack.paused():
        result = investigate_raised(alarm, incidents.context, error)
        if result is not None:
            incidents.output.open()
            state.quiet_until_healthy = True
            state.anomalies += 1
            incidents.conclude(alarm, result, incidents.context, begin)
