"""A sequence of ids that a model reads and is asked for at the same places."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OwnItem(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: two look-ups of one table with the same ids, and scores that a loss reads: products
    of the second with what was computed of the first, place by place."""

    places: int
    """Ids that were compared."""
    same: int
    """Of those, the ones that are equal."""
    made: Frame | None
    """The line that wrote the ids that are asked for."""
    wanted: Frame | None
    """The line that looks them up."""
    frame: Frame | None
    """The line of the product."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step, self.same
