"""A batch of which one part was put in another order than the rest."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CollatedRows(Fact, frozen=True, kw_only=True):
    """Seen once for a loader and a pair of tensors; each sample was fetched again and looked for in the rows."""

    loader: int
    """Its number, from 0."""
    path: str
    """Of the tensor that is in an order of its own."""
    other: str
    """Path of the one beside it."""
    rows: int
    apart: int
    """Rows that hold one sample in the one and another in the other."""
    first: tuple[tuple[int, int], ...]
    """Dataset indices in `path` and in `other` of the first such rows."""
    frame: Frame | None
    """Where the collate function sorts."""
    loader_frame: Frame | None = None

    def key(self) -> object:
        """Identify the loader and the pair."""
        return self.loader, self.path, self.other
