"""What the loss and the learning rate of the last steps say about an earlier state: was all as usual, and what came
after it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from debugtracer.trace.step import StepLoss

USUAL = 32  # losses that say what is usual (ours: as many as a spike is settled by)
LEAST = 8  # of them at least (ours)
BEFORE, AFTER = 8, 3  # losses before a state, and computed with it, that may not stand out (ours)
ABOVE = 0.25  # of the spread of the usual losses, and of the largest, that is still as usual (as for a loss jump)
FAR = 10.0  # times the reach of the usual losses above their median: no batch of these data is so hard (as in trials)
JUMP = 2.0  # times the largest rate before a state: more since may be what went wrong (ours: warm-ups grow by less)


def is_quiet(losses: Sequence[StepLoss], step: int) -> bool:
    """True if the losses before a step and its own are as those of longer ago; False too where too few are known. A
    single hard batch is no precursor, a level that has risen is one, however slowly."""
    usual = usual_before(losses, step)
    before = [loss for at, loss, _ in losses if step - BEFORE <= at < step]
    own = [loss for at, loss, _ in losses if step <= at < step + AFTER]
    if len(usual) < LEAST or not before or not own:
        return False
    if any(not math.isfinite(loss) for loss in before):
        return False
    finite = [loss for loss in own if math.isfinite(loss)]
    top, low = max(usual), min(usual)
    limit = top + ABOVE * max(top - low, abs(top))
    limit = min(limit, far_above(lowest_level(losses, step)))
    return bool(finite) and statistics.median(before) <= limit and min(finite) <= limit


def has_left_its_level(losses: Sequence[StepLoss], step: int) -> bool:
    """True if the last loss before a step was far above all that is usual."""
    usual = usual_before(losses, step)
    last = next((loss for at, loss, _ in reversed(losses) if at < step), math.nan)
    if len(usual) < LEAST or math.isnan(last):
        return False
    return last > far_above(usual)


def far_above(usual: Sequence[float]) -> float:
    """What no batch is as hard as, where these losses are usual."""
    middle = statistics.median(usual)
    return middle + FAR * max(max(usual) - middle, abs(middle))


def lowest_level(losses: Sequence[StepLoss], step: int) -> list[float]:
    """The finite losses of the stretch before a step whose median is lowest: where training had come to."""
    finite = [loss for at, loss, _ in losses if at < step and math.isfinite(loss)]
    stretches = [finite[at : at + USUAL] for at in range(0, len(finite), USUAL)]
    return min(stretches, key=statistics.median)


def usual_before(losses: Iterable[StepLoss], step: int) -> list[float]:
    """The finite losses that say what is usual, some steps before this one."""
    return [loss for at, loss, _ in losses if step - BEFORE - USUAL <= at < step - BEFORE and math.isfinite(loss)]


@dataclass(frozen=True)
class Rates:
    """Learning rates of the first group around a state; NaN where they are not known."""

    then: float
    """Of the last step before it."""
    before: float
    """The largest before it: training stood it."""
    since: float
    """The largest since."""

    @property
    def jumped(self) -> bool:
        """Whether it has risen since to what the run had never seen; a rate of 0 before is a warm-up that begins."""
        return self.then > 0 and self.since > JUMP * self.before


def rates_around(losses: Iterable[StepLoss], step: int) -> Rates:
    """The learning rates before and since a step."""
    then, before, since = math.nan, math.nan, math.nan
    for at, _, rate in losses:
        if at < step:
            then, before = rate, rate if math.isnan(before) else max(before, rate)
        else:
            since = rate if math.isnan(since) else max(since, rate)
    return Rates(then, before, since)
