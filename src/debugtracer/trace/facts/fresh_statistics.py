"""A copy of the trained network that is evaluated with the running statistics that a new batch norm has."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class FreshStatistics(Fact, frozen=True, kw_only=True):
    """Told once."""

    module: str
    """The first of its batch norms."""
    norms: int
    """Batch norms with mean 0 and variance 1 that have counted no batch."""
    trained: int
    """Batches that the same norm of the trained network has counted."""
    kind: str
    """The class of the copy."""
    frame: Frame | None
    """The line that evaluates it."""

    def key(self) -> object:
        """Identify the line that evaluates."""
        return self.frame
