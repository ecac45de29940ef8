"""The way that the learning rate of an optimizer went, when the run is over."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.scheduler.loaded_rate import LoadedRate
from debugtracer.observers.scheduler.rate_lines import built_rates
from debugtracer.observers.scheduler.schedule_state import ScheduleState
from debugtracer.observers.scheduler.scheduler_plan import SchedulerPlan
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import RateHistory
from debugtracer.trace.number import number


def rate_history(
    run: ObservedRun,
    optimizer: Optimizer,
    state: ScheduleState,
    plan: SchedulerPlan | None,
    load: LoadedRate | None,
    value_frame: Frame | None,
) -> RateHistory | None:
    """The fact, without the line that writes the rate; None for a rate that never moved."""
    built = built_rates(optimizer)
    if not built or state.high is None or not (state.rises or state.drops):
        return None
    return RateHistory(
        ref=run.ref("update", run.iteration - 1), optimizer=state.number, kind=type(optimizer).__name__,
        frame=run.built_at(optimizer), built=number(max(built)), peak=number(state.peak), rate=number(state.high),
        lowest=number(state.lowest), lowest_at=state.lowest_at, lowest_step=state.lowest_step,
        updates=state.updates, rises=state.rises, falls=state.drops, scheduler="" if plan is None else plan.kind,
        scheduler_frame=None if plan is None else plan.frame, value_frame=value_frame,
        step_frame=None if plan is None else first(plan.last), loaded=None if load is None else number(load.rate),
        loaded_updates=0 if load is None else load.updates, loaded_frame=None if load is None else load.frame,
        first=None if load is None or state.begins is None else number(state.begins),
    )  # fmt: skip
