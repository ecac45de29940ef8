"""The rule of the articles: distance from the mean of the last values in standard deviations. False on 1 to 2 % of
healthy steps (benchmarks/spikes.py)."""

from __future__ import annotations

import math
from collections import deque

WIDTH = 100  # values, the current one included (docs/rationale/checks.md#article-sigma)


class Sigma:
    """The last WIDTH values; only run where the preset `seed` asks for it."""

    def __init__(self) -> None:
        self.past: deque[float] = deque(maxlen=WIDTH)

    def push(self, value: float) -> float:
        """The standard deviations above the mean of the last WIDTH values; 0 until there are so many."""
        self.past.append(value)
        if len(self.past) < WIDTH:
            return 0.0
        mean = math.fsum(self.past) / WIDTH
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in self.past) / WIDTH)
        return (value - mean) / spread if spread > 0 else 0.0
