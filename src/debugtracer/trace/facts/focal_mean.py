"""A loss that is weighed by the exponential of its own mean."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class FocalMean(Fact, frozen=True, kw_only=True):
    """Seen in inspected steps; once a line."""

    KEEP = 8

    loss: str
    """The function that gave the mean: cross_entropy, binary_cross_entropy."""
    rows: int
    """Rows that it is the mean of."""
    frame: Frame | None = None
    """The line that calls the loss."""
    built: Frame | None = None
    """The line that builds the module which calls it."""
    exp_frame: Frame | None = None
    """The line of the exponential."""
    product_frame: Frame | None = None
    """The line of the product."""

    def key(self) -> object:
        """Identify the line of the product."""
        return self.product_frame
