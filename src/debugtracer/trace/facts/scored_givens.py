"""Targets of places that a model reads as they are, beside those that it reads as a mask."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ScoredGivens(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: a cross-entropy over the places of a text with hidden words."""

    KEEP = 32

    places: int
    """Targets that count in the loss."""
    same: int
    """Of those, the ones that the model reads at the same place."""
    hidden: int
    """Those in whose place it reads one and the same other id."""
    mask: int
    """That id, which is no target."""
    frame: Frame | None
    """The line of the loss."""
    made: Frame | None = None
    """The line that wrote the targets last."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
