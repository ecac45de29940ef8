"""A series with few values far apart, as in a log of others: did it leave its best for good? Judged as a whole, when
the run is over."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from itertools import pairwise

from debugtracer.spikes.residual import middle
from debugtracer.trace.step import StepRef

APART = 10  # steps between two values (median): nobody who watches each step has such a series (ours)
FEWEST = 8  # values: three at the best, three at the end, and a rise between them (ours)
NEAR = 3  # values of a running median (ours)
# robust deviations of the differences before the best; four times as many where values are negative (ours)
DEVIATIONS = 6.0
TIMES_BEST = 1.5  # times the best: all that a rising curve of a healthy run was seen to lose, and more (ours)
HELD = 0.8  # share of the rise that is still there: a bump that is being worked off is none (ours)
# least deviation, as a share of the size of the best: below it a smooth curve has no noise to measure by (ours)
FLAT = 0.02


@dataclass(frozen=True)
class Departure:
    """Where the best was, where the series left it, and where it ended."""

    best_ref: StepRef
    best: float
    left_ref: StepRef
    now: float
    deviations: float


@dataclass
class Sparse:
    """The values of a sparse series; forgets them as soon as it is seen to be dense."""

    refs: list[StepRef] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rates: list[float | None] = field(default_factory=list)
    dense: bool = False

    def push(self, ref: StepRef, value: float, rate: float | None = None) -> None:
        """Add one value, with the learning rate that was logged beside it."""
        if self.dense:
            return
        self.refs.append(ref)
        self.values.append(value)
        self.rates.append(rate)
        if len(self.refs) == FEWEST and self.apart < APART:
            self.dense = True
            self.refs, self.values, self.rates = [], [], []

    @property
    def apart(self) -> float:
        """The median distance of two values, in steps."""
        return statistics.median(b.step - a.step for a, b in pairwise(self.refs))

    def departure(self, times_start: float) -> Departure | None:
        """The series has left its best and ends far above it, and above where it began or 1.5 times the best; None if
        not."""
        if self.dense or len(self.values) < FEWEST or self.apart < APART:
            return None
        near = [middle(sorted(self.values[i : i + NEAR])) for i in range(len(self.values) - NEAR + 1)]
        at = min(range(len(near)), key=near.__getitem__)
        best, start, now, spread = near[at], near[0], near[-1], self.deviation(at + NEAR, near[at])
        limit = DEVIATIONS * (4 if min(self.values) < 0 else 1) * spread
        after = near[at + NEAR :]
        if now - best <= limit or len(after) < NEAR or now - best < HELD * (max(after) - best):
            return None
        learnt = at >= NEAR and start - best > limit
        restarted = self.restarted(at)
        above_start = (
            now - start > restarted * (TIMES_BEST - 1) * abs(start)
            if learnt
            else start > 0 and best > 0 and now > times_start * start
        )
        if not above_start and (not learnt or best <= 0 or now <= TIMES_BEST * best or restarted):
            return None
        left = max(i for i, value in enumerate(self.values) if value - best <= limit) + 1
        return Departure(self.refs[at + 1], best, self.refs[min(left, len(self.refs) - 1)], now, (now - best) / spread)

    def deviation(self, count: int, best: float) -> float:
        """The robust deviation of the differences up to the best; of all of them where the best comes too early."""
        steps = [b - a for a, b in pairwise(self.values[:count] if count > FEWEST - NEAR else self.values)]
        centre = middle(sorted(steps))
        few = 1 + NEAR / len(steps)  # a deviation learnt from few values is often too small
        return max(few * 1.4826 * middle(sorted(abs(step - centre) for step in steps)), FLAT * abs(best), 1e-12)

    def restarted(self, at: int) -> bool:
        """True if the rate is higher than at the best: a schedule that begins anew costs something and gives it
        back."""
        then, now = self.rates[at + 1], self.rates[-1]
        return then is not None and now is not None and now > TIMES_BEST * then
