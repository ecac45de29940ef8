"""A DataLoader of the program: what it reads, how it draws and who works for it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class LoaderSeen(Fact, frozen=True, kw_only=True):
    """One loader, emitted when its first batch reaches a backward, or when the run ends for one that never does."""

    ABOUT = "a DataLoader"
    KEEP = 32

    loader: int
    """Its number, in the order of first batches; a loader built anew at the same line after the old one is gone keeps
    it."""
    frame: Frame | None
    """Where the user built it."""
    dataset: str
    length: int | None
    """Samples of the dataset; None for a stream."""
    batch_size: int | None
    workers: int
    sampler: str
    trains: bool
    """A batch of it was the last one fetched before a backward."""
    shards: bool
    """Its sampler gives each rank a part of the data."""
    shuffles: bool | None
    """Its sampler draws a random order; None when that is not known."""
    generator: bool
    """A generator was handed to it or to its sampler."""
    worker_init: bool
    """It has a worker_init_fn."""
    persistent: bool
    cores: int
    """Cores this process may run on."""
    weights: int | None = None
    """Weights of a sampler that draws by weights; it draws no row beyond that number."""
    draws: int | None = None
    """Rows it draws in one pass."""
    sampler_frame: Frame | None = None
    """The line that makes a sampler that draws by weights."""
    rereads: Frame | None = None
    """A line of the dataset that reads the same file for each sample."""

    def key(self) -> object:
        """Identify the loader that the fact is about."""
        return self.loader
