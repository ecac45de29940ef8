"""A copy of a trained model that acts in its place and never gets its weights."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ActingCopy(Fact, frozen=True, kw_only=True):
    """Seen once for a copy, when the run is over: it acted in many rounds between which its original was trained."""

    module: str
    """The class of the copy."""
    rounds: int
    """Times that it acted again after updates of the original."""
    updates: int
    """Updates since it was first seen."""
    apart: Number
    """How far the trained model has gone from it, as a share of its norm."""
    frame: Frame | None
    """The line that updates the original."""
    called: Frame | None
    """The line that calls the copy."""

    def key(self) -> object:
        """Identify the line that updates: an actor and its critic are one copy."""
        return self.frame
