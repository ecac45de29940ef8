"""A mixture of data and a random draw that nobody reads."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnreadDraw(Fact, frozen=True, kw_only=True):
    """Seen in several inspected steps, and never otherwise: a layer got what the mixture was made of."""

    KEEP = 16

    frame: Frame | None
    """The line that mixes."""
    looks: int
    """Inspected steps, in none of which it was read."""
    given: Frame | None = None
    """The line that hands a layer, or a model, the same without the draw."""

    def key(self) -> object:
        """Identify the line that mixes."""
        return self.frame
