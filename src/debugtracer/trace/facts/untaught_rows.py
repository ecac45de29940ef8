"""Samples none of whose targets counts."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UntaughtRows(Fact, frozen=True, kw_only=True):
    """Told once for a loader, after its first batches."""

    path: str
    """Of the labels in the batch."""
    loss: str
    ignored: int
    """The value that the loss ignores."""
    rows: int
    """Samples that were seen."""
    empty: int
    """Those of them whose labels are all ignored."""
    asked: int
    """Of these, how many were fetched again, and had no label again."""
    samples: tuple[int, ...]
    """Their dataset indices."""
    frame: Frame | None
    """Where the labels were written."""
    written: Frame | None = None
    """The only line of the data set's file that writes the ignored value into a whole row."""

    def key(self) -> object:
        """Identify the labels by where they were written."""
        return self.path, self.frame
