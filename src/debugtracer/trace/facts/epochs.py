"""One pass over a DataLoader: in which order samples came, how many, and what was lost on the way."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact

HEAD = 16  # batches whose order and content are kept apart: enough to tell two orders of any data set apart


class Epoch(Fact, frozen=True, kw_only=True):
    """Emitted when the next pass begins, or when the run ends."""

    ABOUT = "a DataLoader"
    KEEP = 64

    loader: int
    number: int
    """Passes over this loader before it."""
    frame: Frame | None
    """Where the loader was built."""
    trains: bool
    sampler: str
    sampler_epoch: int | None
    """The sampler's own epoch (set_epoch) when the pass began; None for a sampler without one."""
    shuffles: bool | None
    batches: int
    expected: int | None
    """len(loader)."""
    order: tuple[int, ...]
    """Digest of the dataset indices of each of the first HEAD batches; empty when they are not known."""
    ascending: bool
    """The indices of the head came in ascending order: nothing was shuffled."""
    content: tuple[int, ...]
    """Digest of the values of each of the first HEAD batches."""
    dropped: int = 0
    """Rows that the sampler drew and the batches do not hold."""
    short: int = 0
    """Batches that lack rows."""
    evaluates: bool = True
    """One of its batches was followed by a call of a module without a graph."""
    renewed: bool = False
    """The same line has built another loader for this pass: it may read another part of the data."""

    def key(self) -> object:
        """Identify the loader whose passes are counted."""
        return self.loader


class Restart(Fact, frozen=True, kw_only=True):
    """A loader that was asked for the first batch of a pass again and again, and gave the same each time."""

    ABOUT = "a DataLoader"
    KEEP = 16

    loader: int
    frame: Frame | None
    first: int
    """Iteration at which these values came first."""
    count: int
    """How often they have come since, each time as the first batch of a new pass."""
    asked: int
    """The most batches that any of these passes gave."""
    batches: int | None
    """len(loader)."""

    def key(self) -> object:
        """Identify the loader and the batch that came again."""
        return self.loader, self.first


class Overlap(Fact, frozen=True, kw_only=True):
    """Samples that a loader used for evaluation shares with the one that trains."""

    ABOUT = "a DataLoader"
    KEEP = 16

    loader: int
    frame: Frame | None
    train_frame: Frame | None
    shared: int
    """Rows of it that came in training too."""
    rows: int
    """Rows of it that were looked at."""
    trained: int = 0
    """Rows of the training that they were compared with."""
    how: str
    """`content`: equal values; `indices`: both read the same dataset at the same places; `windows`: the values of a
    row, further to the front, inside a row of training."""
    same: int = 0
    """windows: rows of it that came in training as they are."""
    length: int = 0
    """windows: values in a row that are equal."""
    split: Frame | None = None
    """The line that chose the rows of either; of equal values one that draws them anew for each."""
    samples: tuple[int, ...] = ()
    """Some of the shared rows: dataset indices where they are known, else places in the pass."""
    unread: str = ""
    """Where both loaders are given one dataset: the name of another that is made beside it and read nowhere."""
    unread_frame: Frame | None = None
    """Where that is made."""

    def key(self) -> object:
        """Identify the loader of the evaluation, and what is shared."""
        return self.loader, self.how
