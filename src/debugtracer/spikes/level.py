"""The level of a series: medians of blocks, from the first one on. Shows what a window of 64 values cannot: better or
worse than at the start."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from debugtracer.spikes.residual import middle

BLOCK = 16  # values of a block
BLOCKS = 64  # blocks remembered: 1,024 steps


@dataclass
class Level:
    """Medians of consecutive blocks of BLOCK values."""

    block: list[float] = field(default_factory=list)
    medians: deque[float] = field(default_factory=lambda: deque(maxlen=BLOCKS))
    first: float = 0.0
    """Of the first block."""
    best: float = float("inf")
    """Of the lowest block."""
    least: float = float("inf")
    """The smallest value ever."""
    count: int = 0
    """Values taken."""

    def push(self, value: float) -> bool:
        """True when this value ends a block."""
        self.block.append(value)
        self.count += 1
        self.least = min(self.least, value)
        if len(self.block) < BLOCK:
            return False
        now = middle(sorted(self.block))
        self.block.clear()
        if not self.medians:
            self.first = now
        self.medians.append(now)
        self.best = min(self.best, now)
        return True

    @property
    def now(self) -> float:
        """The level of the last whole block."""
        return self.medians[-1]

    def came_back(self, low: float, high: float, values: int) -> bool:
        """Whether the level had risen from below `low` to above `high` once before the last `values`, and all the same
        went on: such a rise is what this series does."""
        before = list(self.medians)[: max(len(self.medians) + -values // BLOCK, 0)]
        below = next((place for place, median in enumerate(before) if median <= low), len(before))
        return any(median >= high for median in before[below:])

    def halves(self, values: int) -> tuple[float, float] | None:
        """The median levels of the older and the younger half of the last `values`; None if there are not so many."""
        blocks = -(-values // BLOCK)
        if blocks < 2 or len(self.medians) < blocks:
            return None
        last = list(self.medians)[-blocks:]
        return middle(sorted(last[: blocks // 2])), middle(sorted(last[blocks // 2 :]))
