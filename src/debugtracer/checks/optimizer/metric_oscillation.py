"""Does a logged metric jump to and fro?"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

from debugtracer.checks.check import Check
from debugtracer.spikes.lines import lines
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import LOSS, VAL_LOSS, Window

LOGGED = "logged/"
LAST = 32  # values of a series that are looked at (ours: a swing that began this long ago)
EVERY = 8  # new values of a series between two looks (ours: a look costs about 50 microseconds)


class Swing(NamedTuple):
    """How a metric moves around its trend."""

    level: float
    size: float
    """Median distance from the trend."""
    flips: float
    """Share of neighbours on opposite sides of the trend."""
    lag1: float
    """Autocorrelation with the value before."""


class MetricOscillation(Check, frozen=True):
    """A logged accuracy, F1 or other share swings to and fro around its trend.

    What it catches
        A learning rate or momentum at the edge, a batch too small for what is learned, two tasks that undo each other.
    Why it matters
        The number you choose a checkpoint by depends on the step you happen to look at.
    How it decides
        For each series that was logged by the program and lies within 0..1 (or 0..100): over its last 32 values, from
        24 on, around the line through the means of their halves. The median distance from it is above `swing` of the
        range, neighbours are on opposite sides in more than `flips` of the cases, and the autocorrelation at lag 1 is
        below -max(0.3, 4/sqrt(n)): independent noise stays above that. Every 8 values and at the end.
    What to do
        Halve the learning rate or use a larger batch; average the weights (EMA) or the metric over several evaluations
        before you compare.
    Example
        step 640, rank 0: logged/val_acc swings around 0.71 by 0.12 (median), on opposite sides in 94 % of 32 values;
        expected below 0.05 of its range. Halve the learning rate or use a larger batch.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, VAL_LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str | None] = "lr_too_high"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.5
    family: ClassVar[str] = "loss"
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    remedies: ClassVar[tuple[str, ...]] = (
        "halve the learning rate, or use a larger batch",
        "average weights (EMA) before evaluating",
    )
    proved_by: ClassVar[str] = "optimizer/accuracy_two_cycle"
    swing: float = 0.05  # median distance from the trend, share of the metric's range (ours: 5 points of accuracy)
    flips: float = 0.65  # share of sign changes (that of loss-oscillation)
    lag1: float = -0.3  # autocorrelation at lag 1 (that of loss-oscillation)
    least: int = 24  # values of the series (ours: with fewer the bound on the autocorrelation is out of reach)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning for each metric that swings, once."""
        memory = window.memory(self)
        seen: dict[str, int] = memory.setdefault("seen", {})
        for name, values in window.series.items():
            if not name.startswith(LOGGED) or name in memory:
                continue
            seen[name] = seen.get(name, 0) + (name in window.fresh)
            if window.ended or (name in window.fresh and seen[name] % EVERY == 0):
                finding = self.judge_metric(window, name, [v for v in list(values)[-LAST:] if math.isfinite(v)])
                if finding is not None:
                    memory[name] = True
                    yield finding

    def judge_metric(self, window: Window, name: str, values: list[float]) -> Finding | None:
        """Return a finding if the values of one metric swing, else None."""
        if len(values) < self.least or min(values) < 0 or max(values) > 100:
            return None
        swing, scale = swing_of(values), 1.0 if max(values) <= 1 else 100.0
        if (
            swing.size <= self.swing * scale
            or swing.flips <= self.flips
            or swing.lag1 >= -max(-self.lag1, 4 / math.sqrt(len(values)))
        ):
            return None
        return self.finding(
            window,
            "warning",
            f"{name} swings around {swing.level:.3g} by {swing.size:.2g} (median), on opposite sides in "
            f"{swing.flips:.0%} of {len(values)} values; "
            f"expected below {self.swing * scale:g}. Halve the learning rate or use a larger batch.",
            place=lines(window),
            level=swing.level,
            swing=swing.size,
            flips=swing.flips,
            lag1=swing.lag1,
        )


def swing_of(values: Sequence[float]) -> Swing:
    """The residuals around the line through the means of the two ends; these are even in length, so that ups and downs
    cancel."""
    half, count = len(values) // 4 * 2, len(values)
    low, high = statistics.fmean(values[:half]), statistics.fmean(values[-half:])
    slope, level = (high - low) / (count - half), statistics.fmean(values)
    residuals = [value - level - slope * (place - (count - 1) / 2) for place, value in enumerate(values)]
    flips = sum(a * b < 0 for a, b in pairwise(residuals)) / (count - 1)
    power = math.fsum(r * r for r in residuals)
    lag1 = math.fsum(a * b for a, b in pairwise(residuals)) / power if power else 0.0
    return Swing(level, statistics.median(map(abs, residuals)), flips, lag1)
