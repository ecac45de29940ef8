"""Attributes of a dataset that changed in the main process after its persistent workers had copied it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class WorkerCopy(Fact, frozen=True, kw_only=True):
    """Seen at the first batch of a pass, once for each loader."""

    ABOUT = "a DataLoader"

    loader: int
    """As in LoaderSeen."""
    number: int
    """The pass, from 0, before which they were changed."""
    dataset: str
    names: tuple[str, ...]
    """Attributes that `__getitem__` reads and that are no longer what the workers copied."""
    proven: bool
    """A sample fetched twice here is the same and is not what the workers deliver; False where samples are random."""
    sample: int | None = None
    """Index of that sample."""
    written: Frame | None = None
    """The line of the class that writes the first of them, outside of `__init__`."""
    frame: Frame | None = None
    """Where the user built the loader."""

    def key(self) -> object:
        """Identify the loader that the fact is about."""
        return self.loader
