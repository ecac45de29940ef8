"""A map that belongs to its picture turned."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class TurnedTarget(Fact, frozen=True, kw_only=True):
    """Seen in two inspected steps alike."""

    how: str
    """What the target has to undergo so that the picture tells it: `transposed`, `mirrored top to bottom` ..."""
    turned: Number
    """Share of the variance of the target that pixels of the picture explain then, of pixels left out."""
    present: Number
    """The same as they lie over each other."""
    height: int
    width: int
    frame: Frame | None = None
    """The line that turns one of both, where it was found in the source."""
    made: tuple[Frame, ...] = ()
    """The lines that made the target."""
    loss_frame: Frame | None = None

    def key(self) -> object:
        """Tell a loss once."""
        return self.loss_frame, self.how
