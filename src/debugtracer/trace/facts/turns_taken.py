"""Two optimizers take turns, each with a backward of its own."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class TurnsTaken(Fact, frozen=True, kw_only=True):
    """An optimizer steps again, and another has stepped since with a backward of its own: two losses are in one
    series."""

    ABOUT = "two optimizers"
    KEEP = 4

    optimizer: str
    """Class of the one that steps."""
    other: str
    """That of the one that stepped in between."""
    frame: Frame | None = None
    """Where the user built the first."""
    other_frame: Frame | None = None
    """Where the user built the other."""

    def key(self) -> object:
        """The same two are told once."""
        return self.optimizer, self.frame, self.other, self.other_frame
