"""A copy of a trained model that runs without a graph, and that no line of the program writes."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class UnwrittenCopy(Fact, frozen=True, kw_only=True):
    """Seen once for a copy, at the third look."""

    ABOUT = "a copy of the model"
    KEEP = 8

    module: str
    """The class of the copy."""
    name: str
    """What it is called in the program."""
    updates: int
    """Updates of the trained model since the copy was first seen."""
    apart: Number
    """How far the trained model has gone from it, as a share of its norm."""
    made: Frame
    """The line that builds it."""
    called: Frame | None
    """The line that calls it."""

    def key(self) -> object:
        """Identify the copy by its line."""
        return self.made
