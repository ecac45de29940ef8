"""Rows of four numbers of which one pair has lost its order."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.fact import Fact


class BoxEdges(Fact, frozen=True, kw_only=True):
    """Emitted once for a tensor of a loader whose rows were in order before, or are in another loader."""

    KEEP = 16

    loader: LoaderNote
    path: str
    low: int
    """Column of the pair that is broken; its other end is two on."""
    rows: int
    broken: int
    """Rows in which that pair stands the wrong way round."""
    size: float
    """Median distance of the pair in the rows in order."""
    broken_size: float
    """And in those that are not."""
    fetched: int = 0
    """Samples that were fetched again and came broken; in each the same line broke the order."""
    elsewhere: int = 0
    """Rows of another loader, all in order, at the same path."""
    samples: tuple[int, ...] = ()
    """Dataset indices of broken rows."""
    breaks: bool = False
    """`frame` is the line that breaks the order, not only one that makes the tensor."""
    frame: Frame | None = None
    loader_frame: Frame | None = None

    def key(self) -> object:
        """Identify the tensor by loader and path."""
        return self.loader.number, self.path
