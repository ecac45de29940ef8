"""Rows of one output that training takes its loss of, and those that an evaluation looks at: some are in both."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class EvaluatedRows(Fact, frozen=True, kw_only=True):
    """Told once for each line of an evaluation."""

    length: int
    """Rows of the output: the nodes of a graph."""
    trained: int
    """Those that the loss of training is taken of."""
    rows: int
    """Those that the evaluation takes."""
    shared: int
    """Those that are in both."""
    frame: Frame | None
    """The line of the evaluation that takes its rows."""
    train_frame: Frame | None
    """The line of training that takes its rows."""
    whole: bool = False
    """The loss is taken of the output as it is, without an index."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the index of the evaluation."""

    def key(self) -> object:
        """Identify the lines that the fact is about."""
        return self.frame, self.train_frame
