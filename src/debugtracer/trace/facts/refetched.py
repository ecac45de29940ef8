"""A guilty sample fetched once more through the user's dataset: which step made it bad."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Refetched(Fact, frozen=True, kw_only=True):
    """What came of `dataset[index]` when it was asked again, with the first transform whose output is bad."""

    ABOUT = "a DataLoader"

    loader: int
    """Number of the loader, as in LoaderNote."""
    index: int
    what: str
    """nonfinite, constant or blank."""
    again: bool
    """The sample is bad again."""
    origin: str = ""
    """`source` (bad before any transform), `normalisation` or `operation`; empty when it is not known."""
    transform: str = ""
    """Name of the first transform whose output is bad while its input is not."""
    frame: Frame | None = None
    """The line to look at: the transform, else the return of `__getitem__`."""

    def key(self) -> object:
        """Identify the sample that was fetched, and what was bad in it."""
        return self.loader, self.index, self.what
