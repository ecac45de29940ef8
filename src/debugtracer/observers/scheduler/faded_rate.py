"""A learning rate that the loop writes itself and that was next to nothing in many updates."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.scheduler.schedule_state import ScheduleState
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import RateFaded
from debugtracer.trace.number import number


def faded_rate(run: ObservedRun, optimizer: Optimizer, state: ScheduleState, written: Frame | None) -> RateFaded:
    """The fact when the run is over; `written` is the line that writes the rate."""
    return RateFaded(
        ref=run.ref("update", run.iteration - 1), optimizer=state.number, kind=type(optimizer).__name__,
        frame=run.built_at(optimizer), peak=number(state.peak), rate=number(state.high or 0.0), updates=state.updates,
        faded=state.faded, since=state.faded_at, falls=state.falls, written=written,
    )  # fmt: skip
