"""A learning rate that no update has seen move, though its schedule begins from another."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.scheduler.schedule_state import ScheduleState
from debugtracer.observers.scheduler.scheduler_plan import SchedulerPlan
from debugtracer.trace.facts.schedule import RateKept
from debugtracer.trace.number import number


def kept_rate(
    run: ObservedRun, optimizer: Optimizer, state: ScheduleState, plan: SchedulerPlan | None, passes: int
) -> RateKept | None:
    """The fact when the run is over; None for a rate that moved or is the one the schedule begins from."""
    built = [float(r) for g in optimizer.param_groups if isinstance(r := g.get("initial_lr"), (int, float))]
    rate = state.high
    if not built or rate is None or state.move is not None or state.peak != rate or rate == max(built):
        return None
    return RateKept(
        ref=run.ref("update", run.iteration - 1), optimizer=state.number, kind=type(optimizer).__name__,
        frame=run.built_at(optimizer), built=number(max(built)), rate=number(rate), updates=state.updates,
        passes=passes, scheduler="" if plan is None else plan.kind,
        scheduler_frame=None if plan is None else plan.frame, calls=0 if plan is None else plan.calls,
    )  # fmt: skip
