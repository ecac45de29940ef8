"""A learning rate that is another than its optimizer was built with, or no number, at an incident or a crash."""

from __future__ import annotations

import cmath
import math
import traceback

from torch.optim import Optimizer

from debugtracer.callsites.frame_locals import local
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.scheduler.lambda_lines import LambdaLines, function_line
from debugtracer.observers.scheduler.rate_lines import built_rates
from debugtracer.observers.scheduler.schedule_state import ScheduleState
from debugtracer.observers.scheduler.scheduler_plan import SchedulerPlan, rates
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.number import number


def moved_rate(
    run: ObservedRun, optimizer: Optimizer, state: ScheduleState, plan: SchedulerPlan | None, lambdas: LambdaLines
) -> RateMoved | None:
    """The fact, without the line that writes a rate which no scheduler sets; None for a rate that has not moved."""
    given, built, word = rates(optimizer), built_rates(optimizer), undefined(optimizer)
    if not built or not (given or word):
        return None
    now = math.nan if word else max(given)
    state.moves(now, run.step)
    move = (state.high if state.high is not None else max(built), math.nan, run.step) if word else state.move
    if move is None or now == max(built):
        return None
    scheduler = None if plan is None else plan.scheduler()
    return RateMoved(
        ref=run.ref("update", run.iteration), optimizer=state.number, kind=type(optimizer).__name__,
        frame=run.built_at(optimizer), built=number(max(built)), now=number(now),
        before=number(move[0]), after=number(move[1]), step=move[2],
        scheduler="" if plan is None else plan.kind,
        scheduler_frame=None if plan is None
        else (function_line(scheduler) if word else None) or lambdas.frame_of(scheduler) or plan.frame,
        undefined=word,
    )  # fmt: skip


def undefined(optimizer: Optimizer) -> str:
    """What the first rate that is no number is, in a word; "" where all are. Only rates on the host are looked at."""
    for rate in [*rates(optimizer), *(group.get("lr") for group in optimizer.param_groups)]:
        if isinstance(rate, complex):
            return "complex"
        if isinstance(rate, (int, float)) and not cmath.isfinite(rate):
            return "NaN" if cmath.isnan(rate) else "infinite"
    return ""


def died_in_update(error: BaseException, optimizer: Optimizer) -> bool:
    """Whether an exception came out of a method of this optimizer."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(local(frame, "self") is optimizer for frame in frames)
