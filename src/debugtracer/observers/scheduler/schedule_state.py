"""What is remembered of the learning rate of one optimizer."""

from __future__ import annotations

import math

NEWS = 3  # rises of a rate at which it is told again, with the line that wrote it (ours)
FADED = 1e-3  # of the largest rate: below it nothing is learnt (ours; schedules end there, they do not stay)


class ScheduleState:
    """The learning rate of one optimizer and since when it has this sign."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.updates = self.same = self.begun = self.begun_step = 0
        self.peak = self.emitted = 0.0
        self.high: float | None = None
        self.sign: tuple[int, int] | None = None
        self.move: tuple[float, float, int] | None = None
        """(before, after, step) of its largest move between two updates, as a ratio."""
        self.faded = self.faded_at = self.falls = 0
        """Updates with a rate that is next to nothing, the first step of them, and falls of the rate before."""
        self.begins: float | None = None
        """The rate of its first update."""
        self.lowest = math.inf
        self.lowest_at = self.lowest_step = self.rises = self.drops = 0
        """The least rate since the peak, when it last was, and updates with a larger and a smaller rate than before."""
        self.loader: int | None = None
        """Identity of the loader whose batch was the last one before the first update."""

    def fades(self, high: float, step: int) -> None:
        """Count an update whose rate is next to nothing."""
        if 0 < high < FADED * self.peak:
            self.faded, self.faded_at = self.faded + 1, self.faded_at if self.faded else step
        elif self.high is not None and not self.faded:
            self.falls += high < self.high

    def turns(self, high: float, step: int) -> None:
        """Follow the way of the rate up and down; call it before the peak and the last rate are written anew."""
        if self.begins is None:
            self.begins = high
        if self.high is not None:
            self.rises += high > self.high
            self.drops += high < self.high
        if high > self.peak or high <= self.lowest:
            self.lowest, self.lowest_at, self.lowest_step = high, self.updates, step

    def climbs(self, high: float) -> bool:
        """Whether this update has the third rate in a row that is higher than the one before, of a rate that has never
        fallen; call it before the way up and down is followed."""
        return not self.drops and self.rises == NEWS - 1 and self.high is not None and high > self.high

    def moves(self, high: float, step: int) -> None:
        """Keep the largest move."""
        if (
            self.high is not None
            and self.high > 0
            and high > 0
            and high != self.high
            and (self.move is None or size(self.high, high) > size(*self.move[:2]))
        ):
            self.move = self.high, high, step


def size(before: float, after: float) -> float:
    """The size of a move, up or down, as a logarithm."""
    return abs(math.log(after / before))
