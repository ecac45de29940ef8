"""Weights that add up to 1 along another dimension than the one that a weighted sum runs over."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class AttentionAxes(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, at one product with weights that a softmax made of a product."""

    KEEP = 16

    shape: tuple[int, ...]
    """Of the weights where the softmax gives them."""
    soft: int
    """The dimension along which they add up to 1."""
    summed: int
    """The dimension that the product sums over, counted there."""
    module: str | None = None
    made: Frame | None = None
    """The line of the softmax, or the one that built its layer."""
    frame: Frame | None = None
    """The line of the product."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.made, self.ref.step
