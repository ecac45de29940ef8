"""Running statistics of a batch norm that are still mostly those it was made with."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class LaggingStatistics(Fact, frozen=True, kw_only=True):
    """At the end: the batch norm whose running statistics are furthest from the batches they were made of."""

    ABOUT = "a batch norm with a small momentum"

    module: str
    frame: Frame | None
    """Where it was made."""
    norms: int
    """How many are like it."""
    momentum: Number
    batches: int
    """Batches that it counted."""
    kept: Number
    """Share of mean 0 and variance 1 that is left in them: (1 - momentum) ** batches."""
    mean_gap: Number
    """Mean over channels of the distance from the mean of the batches, in their deviations."""
    variance_ratio: Number
    """Median over channels of the running variance by that of the batches."""
