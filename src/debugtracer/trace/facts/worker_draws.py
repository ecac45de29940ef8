"""The random generators that the workers of a loader draw from, as measured inside the workers."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class DrawnBy(msgspec.Struct, frozen=True, kw_only=True):
    """One worker and one generator, over its first two fetches."""

    worker: int
    before: int
    """Digest of the state before the first fetch."""
    after: int
    """Digest of it after the second."""
    draws: bool
    """The state is known to have advanced in both fetches without being seeded anew; false when that is not known."""


class WorkerDraws(Fact, frozen=True, kw_only=True):
    """One generator in all workers of one pass."""

    ABOUT = "a DataLoader"
    KEEP = 64

    loader: int
    frame: Frame | None
    """Where the loader was built."""
    made: Frame | None
    """Where the generator was put into the dataset; None for a generator of the process."""
    epoch: int
    path: str
    """`dataset.rng`, or the generator of the process: `numpy.random`, `random`, `torch`."""
    kind: str
    """Its type."""
    stream: bool
    """An IterableDataset, where equal generators may divide one order among the workers."""
    persistent: bool
    worker_init: Frame | None
    """The worker_init_fn."""
    trains: bool
    drawn: tuple[DrawnBy, ...]

    def key(self) -> object:
        """Identify the generator and its loader."""
        return self.loader, self.path
