"""Running statistics of a frozen part that went on to move."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class MovedStatistics(Fact, frozen=True, kw_only=True):
    """Told when the run is over, at the step where it began: batch norms in training mode behind weights that stayed to
    the bit as they were, whose statistics had been learnt before."""

    ABOUT = "a frozen part with batch norms"
    KEEP = 16

    root: str
    """Class of the module that was called."""
    part: str
    """Path in it of the frozen part; empty where it is all of it, or no part of one name."""
    whole: bool
    """Nothing of that module trains."""
    module: str
    """The first of the batch norms."""
    norms: int
    furthest: str
    """The one whose statistics moved most."""
    gap: Number
    """Median over its channels of how far the running mean moved, in the deviations it began with."""
    ratio: Number
    """The same of the running variance: how many times larger or smaller it is."""
    steps: int
    """Updates meanwhile."""
    frame: Frame | None = None
    """The line that put it into training mode."""
    on_root: bool = False
    """That line names the module that was called."""
    frozen_by: Frame | None = None
    """The only line of the program that freezes."""
    called_at: Frame | None = None
    """The line that called the module."""

    def key(self) -> object:
        """Identify the frozen part."""
        return self.root, self.module
