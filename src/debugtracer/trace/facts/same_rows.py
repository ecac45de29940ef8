"""A tensor of a loader's batches that is the same in every sample."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SameRows(Fact, frozen=True, kw_only=True):
    """Ids that all samples of the first batches share, beside others that differ."""

    KEEP = 8

    dataset: str
    path: str
    """Of the tensor: `batch[2]`."""
    beside: str
    """Of one of the same kind that differs from sample to sample."""
    rows: int
    """Samples looked at."""
    columns: int
    frame: Frame | None = None
    """The line that built the loader."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote it, the one that took the rows first."""

    def key(self) -> object:
        """Tell a tensor of a loader once."""
        return self.frame, self.path
