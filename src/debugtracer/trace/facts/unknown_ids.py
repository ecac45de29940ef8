"""Columns of a batch in which one id stands that no entry of the program's own vocabulary has."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnknownIds(Fact, frozen=True, kw_only=True):
    """One look at a batch of training, and at the vocabulary that its dataset holds."""

    ABOUT = "a dataset with a vocabulary of its own"

    name: str
    """The dict: `Triples.ids`."""
    entries: int
    """The id that no entry has is as large: the one behind the last."""
    columns: tuple[str, ...]
    """The columns of the batch whose other ids are those of the vocabulary, e.g. `batch[0]`, `batch[2]`; one id for
    each row."""
    unknown: tuple[int, ...]
    """Rows of each column with the id that no entry has."""
    rows: int
    frame: Frame | None = None
    """The line that gave the dataset its vocabulary."""
    made: Frame | None = None
    """The line that makes the ids."""

    def key(self) -> object:
        """Identify the vocabulary by its name."""
        return self.name
