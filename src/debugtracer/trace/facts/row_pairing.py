"""An order of the targets under which they can be told from the inputs, where they cannot as they are."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class RowPairing(Fact, frozen=True, kw_only=True):
    """Seen once, of the data of the first loss."""

    order: Literal["reversed", "by-text", "from-text", "grid", "by-column", "moved", "targets-sorted", "inputs-sorted"]
    """How the target of a row is found again: reversed; by-text, from-text: rows numbered as text (1, 10, 11, 2) on one
    side; grid: rows along the other axis; by-column: the rows sorted by a column of the inputs; moved: `by` rows
    further on. targets-sorted, inputs-sorted: one side alone rises from row to row, and nothing finds its other again.
    """
    gain: Number
    """Share of the variance of the targets that the inputs explain under that order, of rows left out."""
    present: Number
    """The same as they are paired; about 0 by chance."""
    rows: int
    """Of the whole data, in its order."""
    by: int = 0
    wrapped: int = 0
    """moved: looked at rows whose targets come round from the other end, and are explained as well."""
    kind: Literal["numbers", "pictures", "texts"] = "numbers"
    """What the inputs are."""
    frame: Frame | None = None
    """The line that put one side in order, where it was found in the source."""
    made: tuple[Frame, ...] = ()
    """The lines that made the targets."""
    loss_frame: Frame | None = None

    def key(self) -> object:
        """Tell the data of a loss once."""
        return self.loss_frame, self.order
