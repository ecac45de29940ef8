"""One series of a log in bounded memory: every value of a short one, a thinned one of a long one, and where it stopped
being finite."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

MOST = 2048  # points kept; above it every second one is dropped
TAIL = 64  # last finite values, all of them


@dataclass(frozen=True)
class Point:
    """One printed value: log line, step as printed (None if it was not)."""

    line: int
    step: float | None
    value: float


@dataclass
class Curve:
    """Values in the order they were printed."""

    count: int = 0
    kept: list[Point] = field(default_factory=list)
    """Finite values, thinned."""
    tail: deque[Point] = field(default_factory=lambda: deque(maxlen=TAIL))
    """Last finite values."""
    before_bad: tuple[Point, ...] = ()
    """The finite values before the first bad one, at most TAIL."""
    first_bad: Point | None = None
    bad: int = 0
    finite_after_bad: int = 0
    low: float = math.inf
    high: float = -math.inf
    stride: int = 1

    def add(self, point: Point) -> None:
        """Add one value to the curve."""
        self.count += 1
        if not math.isfinite(point.value):
            self.bad += 1
            if self.first_bad is None:
                self.first_bad, self.before_bad = point, tuple(self.tail)
            return
        self.finite_after_bad += self.first_bad is not None
        self.low, self.high = min(self.low, point.value), max(self.high, point.value)
        self.tail.append(point)
        if (self.count - 1) % self.stride == 0:
            self.kept.append(point)
        if len(self.kept) > MOST:
            self.kept, self.stride = self.kept[::2], 2 * self.stride

    @property
    def finite(self) -> int:
        """How many values were finite."""
        return self.count - self.bad

    @property
    def last(self) -> Point | None:
        """The last finite value."""
        return self.tail[-1] if self.tail else None
