"""Targets of a masked model that count where its input shows them, and not where they are masked."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class InvertedMask(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    mask: int
    """The one id that stands at all positions whose targets are ignored."""
    ignored: Number
    """Their share."""
    loss: str
    frame: Frame | None
    made: Frame | None = None
    """The line that wrote the targets, where it is known."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
