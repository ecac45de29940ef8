"""A text with more tokens than a table of positions has rows."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class LongText(Fact, frozen=True, kw_only=True):
    """Emitted once, when an embedding refuses an id and its ids are places one after the other."""

    KEEP: ClassVar[int] = 1

    tokens: int
    positions: int
    """Rows of the table."""
    limit: int | None = None
    """The length at which the only line of the program that cuts texts does so; None where none is known."""
    cut: Frame | None = None
    """That line."""
    written: Frame | None = None
    """The line where that length is written; None where it cannot be followed."""
