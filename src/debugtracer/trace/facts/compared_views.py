"""A loss that draws two outputs with a graph together, and how alike the rows of one side are."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ComparedViews(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    KEEP = 64

    function: str
    """What compares them: cosine_similarity, mse_loss, mul ..."""
    frame: Frame | None
    """The line that calls it."""
    rows: int
    """Samples of a side that were looked at."""
    alike: Number
    """Of the side whose rows are less alike: the mean product of different rows, for a cosine of their directions, else
    against their mean square: 1 when all are one."""
    most_alike: Number | None = None
    """The same of the other side."""

    def key(self) -> object:
        """Identify the line and the look: the check compares them."""
        return self.frame, self.ref.step
