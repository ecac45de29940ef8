"""Nearest rows of a set in itself: the first of them is the row that is asked for."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact

RANKED = frozenset({"topk", "argsort", "sort", "argmin", "argmax", "min", "max"})
"""Functions that give the nearest rows."""


class OwnNeighbour(Fact, frozen=True, kw_only=True):
    """Told once for each line that ranks rows whose labels are compared, none left out."""

    function: str
    """That ranks them: topk, argsort, argmin ..."""
    rows: int
    """Of the square matrix."""
    neighbours: int
    """That are taken of each row."""
    own: int
    """Rows whose nearest row is the row itself."""
    frame: Frame | None
    """The line that ranks them."""

    def key(self) -> object:
        """The same line is told once."""
        return self.frame
