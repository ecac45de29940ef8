"""A model that reads padding where it reads one position of each row."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ReadPadding(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, at one line."""

    KEEP = 16

    function: str
    """__getitem__, select, gather."""
    pad: int
    """The id that is padding."""
    side: str
    """`right`: the padding stands behind the ids of a row; `left`: before them."""
    place: int | None
    """The position that is read, from 0; None where each row has its own."""
    positions: int
    """Of a row."""
    rows: int
    """Rows that are not all padding."""
    inside: int
    """Of them, rows that are read at a padded position."""
    gap: Number
    """Padded positions between the position that is read and the ids, as a mean over those rows."""
    length: Number
    """Ids of those rows, as a mean."""
    known_by: str
    """How the program says that the id is padding."""
    recurrent: bool = False
    """A recurrent layer ran in the step: what it carries over padding is still there."""
    packed: bool = False
    """It is what pad_packed_sequence fills up with, not an id."""
    frame: Frame | None = None
    made: Frame | None = None
    """The line that laid out the ids."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
