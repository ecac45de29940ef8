"""Whether the learning rate of a run is searched for: it rises by one step or one factor in each update, from a tiny
one to a huge one, until the loss leaves."""

from __future__ import annotations

import math

from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window

FEWEST = 20  # updates (ours)
TIMES = 100.0  # the first rate (ours: a rate that is wrong by more is not mistaken for a right one)
# times the rate that the optimizer was built with, for one that rises in a line, as a warm-up does (ours)
BEYOND = 10.0
TINY = 1e-4  # the first rate of one that is multiplied: a larger one may be meant and its factor wrong (ours)
EVEN = 1.1  # the largest rise by the smallest one (ours)
WARMS = 5  # steps from nothing to the rate of the constructor: a line so slow up to there is a warm-up (ours)


class RateSearch:
    """The way of the rate since the first update."""

    def __init__(self) -> None:
        self.first = self.last = 0.0
        self.step = self.count = 0
        self.steps, self.factors = (math.inf, 0.0), (math.inf, 0.0)
        """The least and the largest rise an update: as a difference, and as a logarithm."""

    def push(self, rate: float, step: int) -> None:
        """Take the rate of an update."""
        if not math.isfinite(rate) or rate <= 0 or (self.count and step <= self.step):
            return
        if self.count:
            gap = step - self.step
            self.steps = widened(self.steps, (rate - self.last) / gap)
            self.factors = widened(self.factors, math.log(rate / self.last) / gap)
        else:
            self.first = rate
        self.last, self.step, self.count = rate, step, self.count + 1

    def times(self, window: Window) -> float:
        """How many times the first rate the last one is, where it looks like a search; else 0."""
        if self.count < FEWEST or self.last < TIMES * self.first:
            return 0.0
        built = max((as_float(fact.built) for fact in window.seen(Rate) if fact.built), default=self.first)
        line = is_even(self.steps) and self.last >= BEYOND * built and not self.warms(built)
        factor = is_even(self.factors) and self.first <= TINY
        return self.last / self.first if line or factor else 0.0

    def warms(self, built: float) -> bool:
        """Whether it came from below the rate of the constructor in many steps: it warms up, and does not end."""
        return self.first < built and built >= WARMS * self.steps[1]


def widened(span: tuple[float, float], value: float) -> tuple[float, float]:
    """A span that holds a value too."""
    return min(span[0], value), max(span[1], value)


def is_even(span: tuple[float, float]) -> bool:
    """Whether all rises are nearly equal."""
    return span[0] > 0 and span[1] <= EVEN * span[0]


def search_told(times: float) -> str:
    """Say that a loss which leaves is what a search for the rate waits for; empty for 0."""
    if not times:
        return ""
    return (
        f" The learning rate has risen evenly in each update, to {times:.3g} times the first one: a search for a rate "
        "ends so. Nothing if it is one."
    )
