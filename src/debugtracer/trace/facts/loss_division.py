"""Losses of an update that were divided twice by the number of its microbatches."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class LossDivision(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, in which a library called backward."""

    backwards: int
    """The backward calls of the update, and the number each loss was divided by twice in a row."""
    library: str
    """The package that called backward."""
    frame: Frame | None
    """The line of the program that called it."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
