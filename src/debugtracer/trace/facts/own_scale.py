"""A stored array of a dataset that was brought to mean 0 and deviation 1 by its own statistics."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OwnScale(Fact, frozen=True, kw_only=True):
    """Seen once for each tensor of a loader's batches."""

    ABOUT = "a DataLoader"
    KEEP = 32

    number: int
    """Of the loader, in the order of their first batches."""
    path: str
    """Of the tensor in the batch."""
    rows: int
    columns: int
    """Columns, of those that vary, whose mean is 0 and whose deviation is 1, to rounding."""
    of: int
    """Columns that vary."""
    stored: int = 0
    """Tells one array from another."""
    frame: Frame | None = None
    """The line that gave it its name, or wrote it last."""
    made: Frame | None = None
    """The line that computed it."""

    def key(self) -> object:
        """Identify the tensor of the loader."""
        return self.number, self.path
