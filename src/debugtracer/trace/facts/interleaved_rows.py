"""Rows of tokens in which the next token of the text stands in the next row."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class InterleavedRows(Fact, frozen=True, kw_only=True):
    """Of the batches of the inspected steps so far. Scores are in standard deviations of shuffled pairs."""

    KEEP = 4

    rows: int
    """Texts of a batch, each `length` tokens."""
    length: int
    dim: int
    """Along which the model is asked for the next token."""
    tokens: int
    along: float
    """How often pairs of neighbours in a row come again."""
    across: float
    """How often pairs of one place in neighbouring rows do."""
    joined: int
    """Pairs of the last row and the first row one place on that stand in neighbouring rows elsewhere."""
    joins: int
    """Such pairs in all."""
    expected: float
    """How many of them would by chance."""
    frame: Frame | None = None
    """The line that cut the text into rows."""
    loss_frame: Frame | None = None

    def key(self) -> object:
        """Identify the layout by its lines."""
        return self.frame, self.loss_frame
