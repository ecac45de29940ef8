"""Batch norms that see only a few values of each channel, in one inspected step."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class NormBatch(Fact, frozen=True, kw_only=True):
    """The batch norms of a step that normalised over at most FEW values in training mode."""

    KEEP = 16

    look: int
    """How many steps were looked at before."""
    values: int
    """Least number of values of one channel."""
    shape: tuple[int, ...]
    """The input that had so few."""
    modules: tuple[str, ...] = ()
    """Paths, at most 8."""
    count: int = 0
    total: int = 0
    """Batch norms that ran in training mode."""
    frame: Frame | None = None
