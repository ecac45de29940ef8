"""How far the indices of a dataset reach, against its length."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class RowReach(Fact, frozen=True, kw_only=True):
    """A dataset that answers indices beyond its length, up to a bound; asked once for each loader that trains."""

    ABOUT = "a DataLoader"

    loader: int
    """As in LoaderSeen."""
    dataset: str
    length: int
    """What `__len__` gives."""
    reach: int
    """The first index beyond it that raises IndexError; all probed below gave a sample of the usual shape."""
    counts: bool
    """`__len__` gives the length of something that it holds; False for a number it was given, or the least of two."""
    frame: Frame | None = None
    """The line of `__len__`."""
    chosen: str = ""
    """The attribute with the indices of rows that `__len__` counts and no other method reads; empty for none."""
    fetch_frame: Frame | None = None
    """The first line of `__getitem__`, where that is so."""
    loader_frame: Frame | None = None

    def key(self) -> object:
        """Identify the loader that the fact is about."""
        return self.loader
