"""What was in the batches of a loader: their schema, what they are usually like, and what was out of the ordinary in
one of them."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class LoaderNote(msgspec.Struct, frozen=True, kw_only=True):
    """The loader a batch came from. `number` counts loaders in the order of their first batch."""

    number: int
    dataset: str = ""
    dataset_len: int | None = None
    batches: int | None = None
    """Batches of an epoch, when the loader knows."""
    batch_size: int | None = None
    num_workers: int = 0
    sampler: str = ""
    stream: bool = False
    """An IterableDataset."""
    frame: Frame | None = None
    """Where the user built it."""
    made_at: Frame | None = None
    """First line of the user's `__getitem__`: where the samples are made."""
    transform_at: Frame | None = None
    """Of a loader that evaluates: where the `transform` was made that its data set was built with."""


class LeafSchema(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor of a batch; a dimension that varies from batch to batch is -1."""

    path: str
    dtype: str
    device: str
    layout: str
    shape: tuple[int, ...]


class BatchSchema(Fact, frozen=True, kw_only=True):
    """The tensors of a loader's batches; emitted once for each set of paths."""

    ABOUT = "a DataLoader"
    KEEP = 32

    loader: LoaderNote
    leaves: tuple[LeafSchema, ...]

    def key(self) -> object:
        """Identify the loader and the set of paths."""
        return self.loader.number, tuple(leaf.path for leaf in self.leaves)


class BatchChange(Fact, frozen=True, kw_only=True):
    """A tensor of a batch differs from all batches of this loader with the same paths before it."""

    ABOUT = "a DataLoader"

    loader: LoaderNote
    batch: int
    """Its number in its epoch, from 0."""
    path: str
    what: str
    """dtype, device, layout, rank, or the number of a dimension."""
    before: str
    after: str
    batches: int
    """How many batches had been as before."""
    rows: int | None = None
    samples: tuple[int, ...] | None = None

    def key(self) -> object:
        """Identify the fact itself: each one is new."""
        return self.loader.number, self.path, self.what, self.ref.iteration


class LeafProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What one tensor is usually like; medians over the last batches looked at."""

    path: str
    role: str
    """float, ids (integers of two dimensions), label (integers, one a row), mask (0 and 1), or other."""
    mean: Number = 0.0
    std: Number = 0.0
    low: Number = 0.0
    high: Number = 0.0
    channels: int = 0
    pad_share: float | None = None
    """Share of positions that are padding; None when there is no padding to be seen."""
    longest_share: float | None = None
    """Length of the longest row of a batch, as a share of the padded length."""
    longest: int = 0
    shortest: int = 0
    width: int = 0
    """Longest and shortest row of the last batch and the length it was padded to, tokens."""
    entropy: float | None = None
    """Labels: entropy within a batch, nats."""
    pooled_entropy: float | None = None
    """Labels: entropy over the last batches together, nats."""
    classes: int = 0
    """Labels: different values seen."""
    skewed_run: int = 0
    """Labels: batches in a row, up to the last one, whose entropy was below 0.3 of the pooled one."""


class BatchProfile(Fact, frozen=True, kw_only=True):
    """What the batches of a loader are like; emitted at its first batch, the 20th, and every 100th."""

    ABOUT = "a DataLoader"
    KEEP = 16

    loader: LoaderNote
    seen: int
    """Batches fetched so far."""
    looked: int
    """Batches whose values were read."""
    rows: int | None
    training: bool
    """Its batches reach a module in training mode with gradients on."""
    first_layer: str = ""
    """Type of the first layer with parameters of the module they reach."""
    evaluated: str = ""
    """The path of the tensor that a module was given as it was, in a call without a graph."""
    leaves: tuple[LeafProfile, ...] = ()

    def key(self) -> object:
        """Identify the loader that the fact is about."""
        return self.loader.number


class ElementOdd(msgspec.Struct, frozen=True):
    """A number of one row far from those of the others at its place."""

    row: int
    place: tuple[int, ...]
    """Within the row."""
    value: Number
    low: Number
    """The least that the other rows of the batch have there."""
    high: Number
    record: Frame | None = None
    """The only line of the data files of the program on which this number stands."""


class BatchOddity(Fact, frozen=True, kw_only=True):
    """One thing out of the ordinary in one batch. `ref.iteration` is the backward that used the batch, where that is
    known."""

    ABOUT = "a DataLoader"
    KEEP = 256

    loader: LoaderNote
    batch: int
    what: str
    """nonfinite, constant, blank, cut, range, content, ignored, duplicate, ngram, short, pad-labels, label, unreadable,
    empty."""
    path: str = ""
    rows: tuple[int, ...] = ()
    samples: tuple[int, ...] | None = None
    """Dataset indices of these rows; None when they are not known."""
    value: Number = 0.0
    usual: Number = 0.0
    spread: Number = 0.0
    """Median absolute deviation of what is usual."""
    count: int = 0
    of: int = 0
    channel: int | None = None
    looked: int = 0
    """Batches that had been looked at before this one."""
    detail: str = ""
    reached: str = ""
    """nonfinite: `model` when the tensor went into a module, `loss` when the loss of its step is not finite; else
    empty."""
    spoiled: bool = False
    """nonfinite: what came out (output, loss) is not finite either."""
    module: str = ""
    frame: Frame | None = None
    """The user's line that called that module or loss."""
    training: bool = False
    element: ElementOdd | None = None
    """The number that makes its first row unlike the others of the batch, where there is one."""
    form: str = ""
    """A sample of it that is kept in another dtype than others of the data set, in words; `made` is where it is scaled
    or read then."""
    made: tuple[Frame, ...] = ()
    """The lines of the user's that wrote the tensor, the one that made it first."""

    def key(self) -> object:
        """Identify the fact itself: each one is new."""
        return self.loader.number, self.what, self.path, self.batch, self.ref.iteration, self.channel
