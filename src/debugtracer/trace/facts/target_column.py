"""A column of the input that is the target, or a straight line of it, that lays its classes apart, or a few that add up
to it, in every batch looked at."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class TargetColumn(Fact, frozen=True, kw_only=True):
    """One call of a loss; emitted while the same column goes on giving the target away."""

    KEEP = 16

    column: int
    columns: int
    rows: int
    looks: int
    """Calls in a row in which this column was the target."""
    equal: bool
    """The very values; otherwise a straight line of them."""
    path: str = ""
    """The leaf of the batch, e.g. batch[0]."""
    frame: Frame | None = None
    """Where the loader was built, else the line of the loss; of classes apart the line that wrote the column."""
    together: tuple[int, ...] = ()
    """The columns of which the target is a sum with fixed weights, where no single one tells it; `column` is the
    first."""
    apart: bool = False
    """It is no line of the target, but lays its classes apart: none overlaps another along it."""

    def key(self) -> object:
        """Identify the columns that the fact is about."""
        return self.together or ((self.column, "apart") if self.apart else self.column)
