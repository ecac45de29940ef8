"""Pairs of nodes that an evaluation scores and that the graph of messages holds already."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class KnownLinks(Fact, frozen=True, kw_only=True):
    """Told once a run, of an evaluation after an inspected step."""

    nodes: int
    edges: int
    """Connections that the model is given."""
    pairs: int
    """Pairs that the evaluation scores."""
    known: int
    """Those that the model is given as connections, and that training does not score."""
    frame: Frame | None
    """The line that scores them."""
    called: Frame | None
    """The line that hands the graph to the model."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote it."""

    def key(self) -> object:
        """Identify the lines that the fact is about."""
        return self.frame, self.called
