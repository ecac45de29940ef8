"""The usual size of the loss, and whether one leaves all bounds."""

from __future__ import annotations

from collections import deque
from statistics import median

PAST = 32  # losses that are the usual (ours)
FEWEST = 4  # before one is compared; the first ones, below whose median no loss is usual (ours)
TIMES = 1000.0  # the usual loss (ours: no tail of healthy losses reaches that)


class UsualLoss:
    """Learns the sizes of the losses that it is told, however far apart, without those that leave all bounds."""

    def __init__(self) -> None:
        self.past: deque[float] = deque(maxlen=PAST)
        self.first = 0.0
        """The median of the first ones: a loss that is met and falls to nothing is measured by them."""

    def clear(self) -> None:
        """Forget all losses, and learn anew."""
        self.past.clear()
        self.first = 0.0

    def left_by(self, loss: float) -> float | None:
        """The usual size where this loss is far above it; else learn the loss, and give None."""
        usual = max(median(self.past), self.first) if len(self.past) >= FEWEST else 0.0
        if usual and loss > TIMES * usual:
            return usual
        self.past.append(abs(loss))
        if len(self.past) == FEWEST and not self.first:
            self.first = median(self.past)
        return None
