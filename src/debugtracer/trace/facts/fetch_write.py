"""What fetching a sample writes into the data that it is fetched from."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class FetchWrite(Fact, frozen=True, kw_only=True):
    """A dataset whose `__getitem__` changed the stored row that it was asked for, twice in a row; asked once for each
    loader that trains."""

    ABOUT = "a DataLoader"

    loader: int
    """As in LoaderSeen."""
    dataset: str
    name: str
    """The attribute that holds the rows."""
    sample: int
    once: float
    """The change of the stored numbers by the first fetch, as a share of their norm."""
    twice: float
    """The change by both fetches together."""
    rows: int
    """How many rows the first fetch changed."""
    frame: Frame | None = None
    """The line that writes in place; else that of `__getitem__`."""
    loader_frame: Frame | None = None

    def key(self) -> object:
        """Identify the loader that the fact is about."""
        return self.loader
