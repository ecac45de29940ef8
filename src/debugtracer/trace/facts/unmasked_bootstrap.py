"""A target that takes the value of the next state in all rows, beside a column of marks that nobody reads."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnmaskedBootstrap(Fact, frozen=True, kw_only=True):
    """One target of an inspected step: numbers of the rows plus a discounted prediction of the next state."""

    KEEP = 64

    rows: int
    marked: int
    """Rows of which the column says 1."""
    marked_beyond: int
    """Of those, the ones whose next state has a number beyond all states of the batch."""
    others_beyond: int
    """The same of the other rows."""
    marked_new: int
    """Marked rows whose next state is no state of the batch."""
    others_new: int
    """The same of the other rows."""
    added: Frame | None = None
    """The line that adds the value to what each row has earned."""
    made: Frame | None = None
    """The line that made the column."""
    frame: Frame | None = None
    """The line that compares the target with a prediction."""

    def key(self) -> object:
        """Identify the line and the look: the check adds them up."""
        return self.added, self.ref.step
