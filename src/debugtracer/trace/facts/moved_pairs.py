"""Inputs of which each had another target when they came again: which of the two has moved among the rows?"""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact

Moved = Literal["inputs", "targets", "both"]


class MovedPairs(Fact, frozen=True, kw_only=True):
    """Told once."""

    ABOUT = "targets of its data"

    data: str
    """What holds the data: a class of dataset, or the names of two arrays."""
    moved: Moved
    """inputs: the targets stand at the places where they stood, the inputs do not; targets: the other way round."""
    rows: int
    """Inputs that were seen twice, bit for bit."""
    changed: int
    """Those whose target is another one now."""
    known: int
    """Those whose target now is one that another input had before."""
    first: int
    """The step up to which the first pairs were seen."""
    drawn: bool
    """The line of the frame is of `__getitem__`: the row is drawn there."""
    frame: Frame | None
    """The line that moves them, where the source shows it; else the one that built the loader."""
    loader_frame: Frame | None = None
    """Where the loader was built."""

    def key(self) -> object:
        """Identify the data that the fact is about."""
        return self.data, self.loader_frame
