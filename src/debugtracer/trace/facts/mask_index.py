"""A tensor indexed with whole numbers that are a mask: 0 and 1, one for each of its rows."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class MaskIndex(Fact, frozen=True, kw_only=True):
    """Seen at one call of an inspected step; once a line."""

    frame: Frame | None
    dtype: str
    rows: int
    """Length of the mask, and of the dimension that it indexes."""
    ones: int
    writes: bool = False
    """The indexed rows are written, not read."""

    def key(self) -> object:
        """Identify the line that indexes."""
        return self.frame
