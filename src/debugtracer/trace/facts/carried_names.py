"""Ids that mean other names than those with which the loaded rows of an embedding were trained."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CarriedNames(Fact, frozen=True, kw_only=True):
    """Told once for each load."""

    ABOUT = "an embedding"

    table: str
    """Name by which the program holds the table of now."""
    former: str
    """The same of the table that the rows were trained with; a path with brackets where the loaded file holds it."""
    param: str
    """The weight of the embedding that was loaded."""
    rows: int
    common: int
    """Names that are in both."""
    differ: int
    """Of those, the ones with two ids."""
    name: str
    """The first of them."""
    trained: int
    """Its id when the rows were trained."""
    now: int
    frame: Frame | None
    """The line that made the table of now."""
    loaded: Frame | None
    """The line that loaded the weights."""

    def key(self) -> object:
        """Identify the embedding and the table."""
        return self.param, self.table
