"""How far single values of a series have risen above where it was going, in its own unit: small batches and next to no
loss have outliers of any number of deviations, and as high as the ones before."""

from __future__ import annotations

from collections import deque

from debugtracer.spikes.point import HABIT, MARGIN, MEMORY

MOST = 64  # rises kept (ours): the third largest counts
SHARE = 0.5  # of the third largest, below which a rise is not kept (ours)


class Rises:
    """The large rises among the last MEMORY values."""

    def __init__(self) -> None:
        self.known: deque[tuple[int, float]] = deque(maxlen=MOST)
        self.least = 0.0

    def learn(self, step: int, rise: float) -> None:
        """Learn the rise of one value, or the largest of an outlier that took several steps."""
        if rise > self.least:
            self.known.append((step, rise))
            self.least = SHARE * self.third(step)

    def third(self, step: int) -> float:
        """The HABIT largest rise; 0 while fewer were seen."""
        while self.known and step - self.known[0][0] > MEMORY:
            self.known.popleft()
        heights = sorted((rise for _, rise in self.known), reverse=True)
        return heights[HABIT - 1] if len(heights) >= HABIT else 0.0

    def usual(self, step: int) -> float:
        """The rise above which a value is news."""
        return MARGIN * self.third(step)
