"""Losses computed by one line in one step, of which only the last reaches the backward."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OverwrittenLoss(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step; all but the last are gone when the backward begins."""

    loss: str
    frame: Frame | None
    calls: int
    is_least: bool
    """The last one is the smallest of them: the loop may have chosen it."""
    is_most: bool
    """The last one is the largest of them."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
