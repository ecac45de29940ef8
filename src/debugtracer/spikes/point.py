"""Point alarm: is this one value beyond what the run itself has shown to be normal?"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

LEAST_Z = 6.0  # MAD; no false alarm in 5,600 healthy Transformer steps (docs/rationale/spikes.md#detectors)
# times more, while fewer steps than that are known: the run has not yet shown its tail (ours)
YOUNG_MARGIN, YOUNG = 4 / 3, 200
MARGIN = 1.3  # times the largest z of the last MEMORY steps (docs/rationale/spikes.md#point-alarm)
CAP = 20.0  # MAD; one giant outlier must not blind us (docs/rationale/spikes.md#point-alarm)
MEMORY = 500  # steps (docs/rationale/spikes.md#point-alarm)
# outliers of that size within MEMORY are how this run is, and lift the cap: the other optimizer of a GAN, the hard
# batch of each epoch (ours)
HABIT = 3


@dataclass
class PointAlarm:
    """The threshold of a series, raised by its own outliers."""

    least: float = LEAST_Z
    """MAD; no value below it is an alarm."""
    large: deque[tuple[int, float]] = field(default_factory=deque)
    """Step and z of each outlier that matters to the threshold."""
    known: int = 0
    """Residuals learnt so far."""

    def threshold(self, step: int) -> float:
        """The MAD above which a value is an alarm at that step."""
        while self.large and step - self.large[0][0] > MEMORY:
            self.large.popleft()
        least = self.least if self.known >= YOUNG else self.least * YOUNG_MARGIN
        if not self.large:
            return least
        sizes = sorted((z for _, z in self.large), reverse=True)
        habit = MARGIN * sizes[HABIT - 1] if len(sizes) >= HABIT else 0.0
        return max(least, min(CAP, MARGIN * sizes[0]), habit)

    def learn(self, step: int, z: float) -> None:
        """Learn a z of the run, or the largest one of an outlier that took several steps."""
        self.known += 1
        if z * MARGIN > self.least:
            self.large.append((step, z))
