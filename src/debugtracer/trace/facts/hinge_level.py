"""How far the rows of a hinge lie from its margin: a loss that is cut off at 0, seen on inspected steps."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class HingeLevel(Fact, frozen=True, kw_only=True):
    """One call of a margin loss, or of a cut at 0 that a program wrote by hand."""

    KEEP = 32

    function: str
    """triplet_margin_loss, margin_ranking_loss; relu, clamp, max of one written by hand."""
    frame: Frame | None = None
    rows: int
    margin: Number
    """The margin; of a cut by hand the mean of what is cut, above 0."""
    off: Number
    """The largest distance of a row from the margin, as a share of it."""
    mean: Number = 0.0
    """Of all rows, after the cut at 0."""
    right: float = 0.0
    """Share of rows below the margin: the far one is farther, the better one scores higher."""
    by_hand: bool = False
    """The margin is not an argument of the call."""

    def key(self) -> object:
        """Identify the function and its line."""
        return self.function, self.frame
