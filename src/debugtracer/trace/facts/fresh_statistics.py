"""A copy of the trained network that is evaluated with the running statistics that a new batch norm has, or with those
that it was copied with."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class FreshStatistics(Fact, frozen=True, kw_only=True):
    """Told once."""

    module: str
    """The first of its batch norms."""
    norms: int
    """Batch norms with mean 0 and variance 1 that have counted no batch, or that have not moved."""
    trained: int
    """Batches that the same norm of the trained network has counted."""
    kind: str
    """The class of the copy."""
    frame: Frame | None
    """The line that evaluates it."""

    written: Frame | None = None
    """The line that writes its weights, where that was seen."""
    off: Number = 0.0
    """Where they are not new: share of the channels that the statistics of the two normalise otherwise."""

    def key(self) -> object:
        """Identify the line that evaluates."""
        return self.frame
