"""Oscillation: a series that swings to and fro around its line, wider than it used to, without a single outlier."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from debugtracer.spikes.residual import WIDTH, line, middle

EVERY = 16  # values between two looks
FLIPS, LAG1 = 0.65, -0.3  # rate of sign changes, autocorrelation at lag 1 (docs/rationale/spikes.md#classes)
WIDER = 2.0  # times the MAD of one width ago (docs/rationale/spikes.md#classes)
LEAST = 0.005  # of the level: a smaller swing is rounding, or noise of no concern (ours)
OUTLIER = 6.0  # MAD; a window with one is a spike's business (docs/rationale/spikes.md#classes)


class Swing(NamedTuple):
    """The last WIDTH values around their line."""

    flips: float
    """Share of steps at which the residual changes its sign."""
    lag1: float
    """Autocorrelation of the residuals at lag 1."""
    mad: float
    """In the unit of the series."""
    before: float
    """The same one width earlier."""
    level: float
    """Median of the values."""
    level_before: float

    @property
    def swings(self) -> bool:
        """Whether the series goes to and fro, and wider than before."""
        return (self.flips > FLIPS or self.lag1 < LAG1) and self.mad > max(WIDER * self.before, LEAST * abs(self.level))


class Swings:
    """Looks at the last WIDTH values now and then; twice in a row is an oscillation."""

    def __init__(self) -> None:
        self.values: deque[float] = deque(maxlen=WIDTH)
        self.past: deque[tuple[float, float]] = deque(maxlen=WIDTH // EVERY + 1)
        """(MAD, median) at the last looks."""
        self.count = 0
        self.streak = 0

    def push(self, value: float) -> Swing | None:
        """An oscillation, at the look that makes it two in a row."""
        self.values.append(value)
        self.count += 1
        if self.count % EVERY or len(self.values) < WIDTH:
            return None
        values = list(self.values)
        rest = line(values)[2]
        mad, level = middle(sorted(map(abs, rest))), middle(sorted(values))
        self.past.append((mad, level))
        if len(self.past) <= WIDTH // EVERY or mad == 0.0:
            return None
        swing = Swing(flips(rest), lag1(rest), mad, self.past[0][0], level, self.past[0][1])
        self.streak = self.streak + 1 if swing.swings and max(map(abs, rest)) <= OUTLIER * mad else 0
        return swing if self.streak == 2 else None


def flips(rest: Sequence[float]) -> float:
    """The share of neighbours with different signs."""
    return sum((a > 0) is not (b > 0) for a, b in itertools.pairwise(rest)) / (len(rest) - 1)


def lag1(rest: Sequence[float]) -> float:
    """The autocorrelation at lag 1 of residuals around 0."""
    total = sum(r * r for r in rest)
    return sum(a * b for a, b in itertools.pairwise(rest)) / total if total else 0.0
