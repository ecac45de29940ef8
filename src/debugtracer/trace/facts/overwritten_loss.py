"""Losses computed by one line in one step, of which some never reach a backward."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OverwrittenLoss(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step; those that were not used are gone when the backward begins."""

    loss: str
    frame: Frame | None
    calls: int
    only_last: bool
    """The last one reaches the backward and no other does."""
    is_least: bool
    """The last one is the smallest of them: the loop may have chosen it."""
    is_most: bool
    """The last one is the largest of them."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
