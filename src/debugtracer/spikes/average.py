"""A moving average that runs away: three weak signs, of which two must agree."""

from __future__ import annotations

import math
from collections import deque

KEEP = 0.9  # share of the old average that is kept, as the first moment of Adam does
MEMORY = 100  # steps compared with (docs/rationale/checks.md#momentum-drift)
WARM_UP = 150  # steps before a sign is given (docs/rationale/checks.md#opt_momentum_drift)

LONGEST = 20  # rises remembered


class Average:
    """The moving average of a positive series, with running sums over its last MEMORY values."""

    def __init__(self) -> None:
        self.value = 0.0
        self.past: deque[float] = deque(maxlen=MEMORY)
        self.total = self.squares = 0.0
        self.count = 0
        self.initial = 0.0
        self.far = 0.0
        """Standard deviations above the mean of the last MEMORY, this one excluded."""
        self.rises: deque[float] = deque(maxlen=LONGEST)
        """Factors of the last steps."""
        self.fresh = False

    def push(self, value: float) -> None:
        """Add one value of the series."""
        before = self.value
        self.count += 1
        self.value = value if self.count == 1 else KEEP * before + (1 - KEEP) * value
        self.rises.append(self.value / before if before > 0 else 1.0)
        if len(self.past) == MEMORY:
            mean = self.total / MEMORY
            spread = math.sqrt(max(self.squares / MEMORY - mean * mean, 0.0))
            self.far = (self.value - mean) / spread if spread > 0 else 0.0
            self.initial = self.initial or mean
            self.total -= self.past[0]
            self.squares -= self.past[0] ** 2
        self.past.append(self.value)
        self.total += self.value
        self.squares += self.value**2
        self.fresh = self.count > WARM_UP

    def signs(self, rise: float, sigma: float, initial: float, streak: int) -> tuple[str, ...]:
        """The signs that hold now, in words."""
        told = []
        if self.far > sigma:
            told.append(f"{self.far:.1f} standard deviations above the last {MEMORY} steps")
        if len(self.rises) >= streak and min(list(self.rises)[-streak:]) >= rise:
            told.append(f"{streak} rises of {rise - 1:.0%} in a row")
        if self.initial > 0 and self.value > initial * self.initial:
            told.append(f"{self.value / self.initial:.2g} times the first {MEMORY} steps")
        return tuple(told)
