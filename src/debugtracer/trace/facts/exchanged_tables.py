"""Two tables of rows of which each has the length that the other needs."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ExchangedTables(Fact, frozen=True, kw_only=True):
    """Emitted once, when an embedding refuses an id, and each of two tables is as long as the ids of the other need."""

    KEEP: ClassVar[int] = 1

    rows: int
    """Of the table that refused an id."""
    high: int
    """The largest of its ids, one less than the rows of the other table."""
    path: str
    """Of the other table."""
    other_rows: int
    column: str
    """Where the batch has the ids that need as many rows as the table that refused has: `batch[1]`."""
    other_high: int
    """The largest of those."""
    whole: bool = True
    """Both are the largest of all the data; False: of the batch."""
    given: Frame | None = None
    """The line that returns both counts, or hands them over, in the wrong order."""
    taken: Frame | None = None
    """The line that unpacks them; None where a call exchanges them, or where it is not known."""
