"""A copy of the weights that is averaged with them again and again, and does not move."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class BlendedCopy(Fact, frozen=True, kw_only=True):
    """A tensor was added to a parameter of its shape, with weights that add up to 1, without a graph, in several
    inspected steps; it is bit for bit what it was, the parameter is not."""

    param: str
    """Path of the parameter."""
    kept: Number
    """The weight of the tensor."""
    taken: Number
    """The weight of the parameter."""
    frame: Frame | None
    """The line."""
    looks: int
    """Inspected steps in which it was done."""
    moved: Number
    """How far the parameter is from where it was at the first look, relative to its norm."""

    called: Frame | None = None
    """The line that calls the function that averages; None where that is the one that trains, too."""
    written: bool = False
    """The average is written to the parameter, in place."""
    forgets: bool = False
    """The copy does move: it takes over nearly all of the parameter in each of several updates running."""

    def key(self) -> object:
        """Identify the line that averages."""
        return self.frame
