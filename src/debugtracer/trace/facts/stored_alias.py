"""Entries of a list that all hold one array, which is written to after it was stored."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class StoredAlias(Fact, frozen=True, kw_only=True):
    """Seen in an inspected step whose batch has rows that are the same."""

    container: str
    """Where the entries are kept: `ReplayBuffer.data`, `states`."""
    places: tuple[str, ...] = ()
    """Places or names of one entry that hold the array; empty where the entries are the array itself."""
    entries: int
    """The last entries, one after the other, that hold the same array."""
    held_by: str = ""
    """The object that holds the array, too: `PointMass.state`; empty where none was found."""
    changed: bool = False
    """The array had other values at an earlier look, while it was stored."""
    columns: tuple[str, ...] = ()
    """Two columns of the container that hold the same rows in memory of their own; `entries` rows were compared."""
    unequal: int = 0
    """Rows of these columns that differ."""
    returned: Frame | None = None
    """The line that returns the array of `held_by` itself."""
    root: str = ""
    rows: int
    distinct: int
    """Rows of the batch that the model is trained on, and how many are different."""
    twice: bool = False
    """Another batch of the step has the same values, in other memory."""
    frame: Frame | None = None
    """The line that adds to the container."""
    write_frame: Frame | None = None
    """The line that writes into the array."""
    called: Frame | None = None
    """The line that calls the model."""

    def key(self) -> object:
        """Identify the container and the line that adds to it."""
        return self.container, self.frame
