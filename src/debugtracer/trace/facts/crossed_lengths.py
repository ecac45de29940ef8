"""Vectors that were brought to length 1 along another dimension than the one that a product sums over."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class CrossedLengths(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, at one product whose scores go into a softmax."""

    KEEP = 16

    shape: tuple[int, ...]
    """Of the factor that was normalised."""
    unit: int
    """The dimension along which all its lengths are 1."""
    summed: int
    """The dimension that the product sums over."""
    low: Number
    high: Number
    """The least and the greatest length along it."""
    softmax: str
    """The function that takes the scores: softmax, cross_entropy, exp ..."""
    module: str | None = None
    made: Frame | None = None
    """The line that normalised; None where it is not known."""
    frame: Frame | None = None
    """The line of the product."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.made, self.ref.step
