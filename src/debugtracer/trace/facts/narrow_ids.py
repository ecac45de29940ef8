"""Ids of a table or of classes that come from an array of small unsigned integers."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class NarrowIds(Fact, frozen=True, kw_only=True):
    """A table with more rows than the type of the array can name that its ids are read from."""

    KEEP = 16

    table: str
    """Path of the table in its model; empty for the classes of a loss."""
    size: int
    """Rows of the table, or classes."""
    dtype: str
    limit: int
    """The largest number that the type holds."""
    source: str
    """What holds the array: `OrderBook.orders`, `train.bin`, `batch[0]`."""
    ids: int
    """Of the array, or of the part of it that was read."""
    largest: int
    """Of these."""
    top: float
    """Share of the highest sixteenth of the numbers that occurs."""
    below: float
    """Share of the other numbers that occurs."""
    frame: Frame | None = None
    """The line that looks them up, or scores them."""
    made: tuple[Frame, ...] = ()
    """The line that opens the file or names the array, or those that make the batch."""

    def key(self) -> object:
        """Identify the table that is read."""
        return self.table, self.size
