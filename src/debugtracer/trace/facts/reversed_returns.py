"""Returns that stand from the last step to the first, multiplied with what was computed from the first to the last."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ReversedReturns(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    KEEP = 4

    frame: Frame
    """The line that appends to the list of returns."""
    loss_frame: Frame | None
    """The line of the product."""
    steps: int
    """Steps of the episode."""

    def key(self) -> object:
        """Identify the line that appends."""
        return self.frame
