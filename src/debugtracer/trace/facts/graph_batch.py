"""Graphs that were joined into one batch."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class GraphBatch(Fact, frozen=True, kw_only=True):
    """The edges of a model's input beside the graph that each node belongs to."""

    KEEP = 16

    root: str
    """Class of the model."""
    nodes: int
    graphs: int
    largest: int
    """Nodes of the largest graph."""
    edges: int
    highest: int
    """Highest node number in the edges."""
    looks: int
    """Batches so far whose edges reach no further than the largest graph."""
    frame: Frame | None = None
    """The line that built the loader, or that called the model."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the edges, the one that made them first."""

    def key(self) -> object:
        """Tell a model anew in each step."""
        return self.root, self.ref.step
