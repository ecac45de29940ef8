"""Two tables of names and ids, one of each of two datasets, that give one name two ids."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OtherNumbers(Fact, frozen=True, kw_only=True):
    """Told once for each table of a dataset that was not trained on."""

    attribute: str
    """Where both datasets hold it: `vocab.stoi`."""
    dataset: str
    """Class of the one that was not trained on."""
    common: int
    """Names that are in both."""
    differ: int
    """Of those, the ones with two ids."""
    name: str
    """The first of them."""
    trained: int
    """Its id in training."""
    evaluated: int
    """Its id in the other."""
    frame: Frame | None
    """The line that made the other dataset."""
    loader: Frame | None
    """The line that built its loader."""

    def key(self) -> object:
        """Identify the table of a dataset."""
        return self.attribute, self.dataset, self.frame
