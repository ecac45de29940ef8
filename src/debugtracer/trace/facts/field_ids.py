"""Columns of ids that are looked up in one table."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class FieldIds(Fact, frozen=True, kw_only=True):
    """Seen once for a table: the ids that a model was given, as its columns, went into it as they were, or each column
    with a number of its own added."""

    root: str
    """Class of the model."""
    table: str
    """Path of the table."""
    size: int
    """Its rows."""
    fields: tuple[int, ...]
    """Largest id of each column + 1."""
    least: int
    """The largest of the smallest ids of the columns."""
    rows: int
    """Rows of ids that were counted."""
    frame: Frame | None
    """Where they are looked up."""
    offsets: tuple[int, ...] = ()
    """What is added to each column before; empty where nothing is."""
    made: Frame | None = None
    """Where that was made, as far as it is known."""

    def key(self) -> object:
        """Identify the table of a model."""
        return self.root, self.table
