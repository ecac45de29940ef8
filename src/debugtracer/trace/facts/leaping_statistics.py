"""Running statistics of a batch norm that leap from batch to batch."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class LeapingStatistics(Fact, frozen=True, kw_only=True):
    """Seen once in a few steps in a row: the batch norm whose running mean leaps furthest."""

    module: str
    frame: Frame | None
    """Where it was made."""
    norms: int
    """How many have a momentum like it."""
    momentum: Number
    steps: int
    """Steps in a row that were compared."""
    leap: Number
    """Mean over channels of how far the running mean leaps from step to step, to and fro, in deviations."""

    def key(self) -> object:
        """Identify the batch norm."""
        return self.module
