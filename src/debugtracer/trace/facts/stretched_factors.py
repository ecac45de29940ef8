"""Values of the rows of a batch that were lined up with its last dimension."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class StretchedFactors(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, at one line."""

    KEEP = 16

    function: str
    """mul, add and the like."""
    shape: tuple[int, ...]
    """Of the batch; its first and its last size are the same."""
    source: str
    """Where there is one value for each row from: the draw, or the path in the batch."""
    frame: Frame | None = None
    source_frame: Frame | None = None
    column: str = ""
    """What takes the same values as one for each row."""
    column_frame: Frame | None = None

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
