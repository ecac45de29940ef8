"""A DataLoader that has no batch."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class BatchlessLoader(Fact, frozen=True, kw_only=True):
    """Emitted once for a loader whose pass begins and has no batch to give."""

    KEEP = 8

    dataset: str
    """Name of the class of the dataset."""
    rows: int
    """Samples that its sampler draws."""
    batch_size: int | None = None
    frame: Frame | None = None
    """Where the program builds the loader."""
    called: Frame | None = None
    """The line of the program that goes through it."""
