"""Two loaders that handed out the same rows side by side, and no longer do."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PairBroken(Fact, frozen=True, kw_only=True):
    """The first batch in which two loaders that were equal, batch for batch, in their first pass hand out other
    rows."""

    ABOUT = "two DataLoaders"

    frame: Frame | None
    """Where the user built the one that is fetched first."""
    other_frame: Frame | None
    equal: int
    """Batches of the first pass in which both gave the same rows in the same shuffled order."""
    number: int
    """The number of the batch in its pass."""
    passes: int
    """Whole passes before it."""
    rows: tuple[int, ...] = ()
    """The first rows of the one."""
    other_rows: tuple[int, ...] = ()

    def key(self) -> object:
        """Identify the two loaders."""
        return self.frame, self.other_frame
