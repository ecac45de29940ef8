"""How far a value lies from where its series was going: a log residual against a line through medians."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

WIDTH = 64  # values the line is drawn through (docs/rationale/spikes.md#classes)
LEAST = 32  # values before a residual is given: a third of fewer has no median to speak of (ours)
FLOOR = 0.005  # least MAD, log units: six of them are a rise of 3 %, less is not worth a word (ours)
UNIT_SHARE = 0.01  # least unit of asinh, as a share of the size the series began with (ours)
# times the largest |value| of a window with values of both signs: around 0 the MAD is no measure of size (ours)
BEYOND_SIGNED = 2.0


class Residual(NamedTuple):
    """A value against the line; all but `value` in log units (asinh units while the series has values <= 0)."""

    value: float
    x: float
    prediction: float
    mad: float
    """Median absolute deviation of the window from its line."""
    z: float
    """(x - prediction) / mad."""
    unit: float
    """0 while x = log(value), else x = asinh(value / unit)."""
    lag1: float
    """The residual one step earlier, same line, in MAD."""
    reach: float = 0.0
    """The largest |value| of the window where it holds both signs, else 0."""

    @property
    def expected(self) -> float:
        """The value that the line predicts."""
        return from_x(self.prediction, self.unit)

    @property
    def beyond_signed(self) -> bool:
        """Whether the value is beyond what a window of both signs holds (REINFORCE); True for any other window."""
        return self.reach == 0 or self.value > BEYOND_SIGNED * self.reach


def to_x(value: float, unit: float) -> float:
    """The scale on which residuals are taken (docs/rationale/spikes.md#classes)."""
    if unit > 0:
        return math.asinh(value / unit)
    return math.log(value) if value > 0 else -math.inf


def from_x(x: float, unit: float) -> float:
    """The value at a place of that scale."""
    return math.sinh(min(x, 700.0)) * unit if unit > 0 else math.exp(min(x, 700.0))


def middle(ordered: Sequence[float]) -> float:
    """The median of sorted values."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else 0.5 * (ordered[half - 1] + ordered[half])


def median_deviation(ordered: Sequence[float], center: float) -> float:
    """Return the median distance of sorted values from a center, by bisection: the nearest half of them lies side by
    side."""
    count = len(ordered)
    half = count // 2 + count % 2
    low, high = 0, count - half
    while low < high:
        between = (low + high) // 2
        if center - ordered[between] > ordered[between + half] - center:
            low = between + 1
        else:
            high = between
    inner = max(abs(ordered[low] - center), abs(ordered[low + half - 1] - center))
    if count % 2:
        return inner
    below = abs(ordered[low - 1] - center) if low else math.inf
    above = abs(ordered[low + half] - center) if low + half < count else math.inf
    return 0.5 * (inner + min(below, above))


def levelled(values: Sequence[float]) -> tuple[float, list[float]]:
    """Return the slope (medians of the outer thirds) and the values without it."""
    count = len(values)
    third = count // 3
    slope = (middle(sorted(values[-third:])) - middle(sorted(values[:third]))) / (count - third)
    return slope, [v - slope * i for i, v in enumerate(values)]


def line(values: Sequence[float]) -> tuple[float, float, list[float]]:
    """Fit slope (medians of the outer thirds) and intercept (median of all); return both and residuals, index 0
    first."""
    slope, flat = levelled(values)
    intercept = middle(sorted(flat))
    return slope, intercept, [v - intercept for v in flat]


class Residuals:
    """Residuals of one series, value by value. A value is compared with the line through those before it, then learnt;
    medians need no winsorising."""

    def __init__(self) -> None:
        self.raw: deque[float] = deque(maxlen=WIDTH)
        self.xs: deque[float] = deque(maxlen=WIDTH)
        self.unit = 0.0
        self.start = 0.0
        """The size the series began with: the median |value| of its first LEAST."""

    def push(self, value: float) -> Residual | None:
        """The residual of a finite value; None while there is too little to compare with."""
        if (value <= 0) is not (self.unit > 0) and (value <= 0 or min(self.raw, default=value) > 0):
            self.rescale(value)
        x = to_x(value, self.unit)
        reading = self.read(value, x) if len(self.xs) >= LEAST else None
        self.raw.append(value)
        self.xs.append(x)
        if len(self.raw) == LEAST and self.start == 0.0:
            self.start = middle(sorted(abs(v) for v in self.raw))
        return reading

    def read(self, value: float, x: float) -> Residual:
        """Measure a value against the line through the window."""
        slope, flat = levelled(list(self.xs))
        ordered = sorted(flat)
        intercept = middle(ordered)
        mad = max(median_deviation(ordered, intercept), FLOOR)
        prediction = intercept + slope * len(flat)
        lag1 = (flat[-1] - intercept) / mad
        return Residual(value, x, prediction, mad, (x - prediction) / mad, self.unit, lag1, self.reach())

    def reach(self) -> float:
        """The largest |value| of a window that holds both signs, else 0."""
        if self.unit == 0 or not min(self.raw) < 0 < max(self.raw):
            return 0.0
        return max(abs(v) for v in self.raw)

    def rescale(self, value: float) -> None:
        """Switch to asinh at the first value <= 0, back to log when the window holds none any more.

        The unit is the usual size, not the MAD: a loss of -0.5 +- 0.1 that crosses 0 is no jump by orders of magnitude.
        """
        values = [*self.raw, value]
        self.unit = 0.0
        if min(values) <= 0:
            self.unit = max(middle(sorted(abs(v) for v in values)), UNIT_SHARE * self.start, 1e-30)
        self.xs = deque((to_x(v, self.unit) for v in self.raw), maxlen=WIDTH)

    def reset(self) -> None:
        """Learn anew: the series lives on another level now."""
        self.raw.clear()
        self.xs.clear()
        self.unit = 0.0
