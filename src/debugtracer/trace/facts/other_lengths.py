"""Rows that are packed by the lengths of other rows."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OtherLengths(Fact, frozen=True, kw_only=True):
    """Seen where a batch is packed, in one inspected step."""

    KEEP = 16

    rows: int
    differ: int
    """Rows that end in zeros before, or go on behind, the length that they were given."""
    given: tuple[int, ...]
    """Lengths of the first rows as they were given."""
    ends: tuple[int, ...]
    """The last steps of the same rows that are not zeros all through, counted from 1."""
    frame: Frame | None

    def key(self) -> object:
        """Identify the line and the step."""
        return self.frame, self.ref.step
