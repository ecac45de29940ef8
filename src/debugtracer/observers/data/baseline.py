"""The baseline of one tensor of a loader's batches: medians over the last ones, to measure how far a batch is from
them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import torch
from torch import Tensor

from debugtracer.observers.data.tensor_summary import BUCKETS, TensorSummary, divergence, entropy_of

DEPTH = 64  # looks that medians are taken over (docs/rationale/spikes.md#classes)
LEARNT = 20  # looks before anything is called far (docs/rationale/checks.md#data_constant_feature)
# looks in which a channel must have moved each time (ours: a sparse column stands still now and then)
STILL_LEARNT = 50
FAR = 8.0  # robust z (docs/rationale/checks.md#data_scale_drift)
ODD = 1  # values learnt that may lie as far out: an accident (ours)
LEAST_NATS = 0.5  # divergence of token histograms below which content is never far (ours)
DECAY = 0.98  # of the learned token histogram, a batch: about 50 batches (ours)
BRIEF = 2  # far batches in a row that are a stray of data that stray now and then: heavy tails (ours)
FRESH = 8  # far batches in a row: this is how the data is now, it is learnt anew (ours)
EVERY = 8  # looks between two computations of the medians (ours)
SKEW, LEAST_ROWS = 0.3, 4  # share of the pooled entropy (docs/rationale/checks.md#data_class_skew), rows a class


@dataclass
class BaselineDistance:
    """How far a batch lies from the usual, in one respect."""

    respect: str
    value: float
    usual: float
    spread: float


@dataclass
class BaselineLevel:
    """Median and median absolute deviation of one number over the last summaries, computed now and then."""

    values: deque[float] = field(default_factory=lambda: deque(maxlen=DEPTH))
    known: tuple[float, float] = (0.0, 0.0)
    stale: int = 0
    """Values since the last computation; while few are known each counts as many."""

    def push(self, value: float) -> None:
        """Learn one more value."""
        self.values.append(value)
        self.stale += EVERY if len(self.values) < EVERY else 1

    def read(self) -> tuple[float, float]:
        """Return median and deviation, computed anew when EVERY values have come."""
        if self.stale >= EVERY:
            ordered = sorted(self.values)
            centre = ordered[len(ordered) // 2]
            self.known = centre, sorted([abs(v - centre) for v in ordered])[len(ordered) // 2]
            self.stale = 0
        return self.known

    @property
    def centre(self) -> float:
        """The median of the values learnt."""
        return self.read()[0]

    @property
    def mad(self) -> float:
        """The median absolute deviation."""
        return self.read()[1]

    def far(self, respect: str, value: float, floor: float, widen: float = 1.0) -> BaselineDistance | None:
        """The distance of a value when it is beyond FAR deviations, which are `widen` times as large for a small
        batch, and beyond all but ODD of the values learnt: batches of one row have a median that says little."""
        spread = widen * max(self.mad, floor, 1e-12)
        if abs(value - self.centre) <= FAR * spread:
            return None
        side = 1.0 if value > self.centre else -1.0
        if sum(side * known >= side * value for known in self.values) > ODD:
            return None
        return BaselineDistance(respect, value, self.centre, spread)


@dataclass
class Baseline:
    """One tensor of one loader."""

    role: str
    looks: int = 0
    mean: BaselineLevel = field(default_factory=BaselineLevel)
    std: BaselineLevel = field(default_factory=BaselineLevel)
    low: BaselineLevel = field(default_factory=BaselineLevel)
    high: BaselineLevel = field(default_factory=BaselineLevel)
    nats: BaselineLevel = field(default_factory=BaselineLevel)
    rows: BaselineLevel = field(default_factory=BaselineLevel)
    entropy: BaselineLevel = field(default_factory=BaselineLevel)
    pad: BaselineLevel = field(default_factory=BaselineLevel)
    longest: BaselineLevel = field(default_factory=BaselineLevel)
    lengths: tuple[int, int, int] = (0, 0, 0)
    """Shortest and longest row of the last padded batch, and its width."""
    tokens: Tensor | None = None
    classes: dict[int, float] = field(default_factory=dict)
    """Decayed counts of each label."""
    skewed: int = 0
    was_still: set[int] = field(default_factory=set)
    """Channels that were constant in some batch while learning: masks, one-hot columns, padding planes."""
    stopped: set[int] = field(default_factory=set)
    """Channels that stand still since the last batches."""
    channels: int = 0
    resized: bool = False
    """Another number of channels came: padded to its longest row, the columns of a batch are places, no features."""
    pad_id: int | None = None
    """The value that rows seem to be padded with."""
    far_run: int = 0
    strays: list[tuple[float, float]] = field(default_factory=list)
    """Mean and std of the far batches in a row so far."""
    ever: tuple[float, float] | None = None
    """Labels: least and most of all summaries."""
    reached: tuple[int, int] = (0, 0)
    """Labels: looks that held the least and the most of them."""
    had_blank: bool = False
    """Blank rows came while it was learnt: they are part of this data."""
    had_cut: bool = False
    """Images whose last line holds one value came while it was learnt: drawings, frames, digits."""
    varied: bool = False
    """Integers: some batch had more than one value."""

    def distances(self, look: TensorSummary) -> list[BaselineDistance]:
        """The respects in which a batch is far from the usual; nothing while too little is known."""
        if self.looks < LEARNT or look.nonfinite:
            return []
        found: list[BaselineDistance | None] = []
        widen = max(1.0, self.rows.centre / max(look.rows, 1)) ** 0.5  # a short batch strays further
        if self.role == "float" and look.row_low is not None:
            unit = abs(self.std.centre)
            found.append(self.mean.far("mean", look.mean, 0.02 * unit, widen))
            found.append(self.std.far("std", look.std, 0.02 * unit, widen))
        elif self.role == "ids" and look.counts is not None and self.tokens is not None:
            nats = look.nats = divergence(look.counts, self.tokens)
            far = self.nats.far("token histogram", nats, LEAST_NATS / FAR, widen**2)
            found.append(far if nats > max(LEAST_NATS, 2 * self.nats.centre * widen**2) else None)
        return [one for one in found if one is not None]

    def learn(self, look: TensorSummary, far: bool) -> None:
        """Learn one summary. Far ones are not learnt, until there are so many that they are the usual; mean and std
        of a brief stray are, once it has ended, or data with heavy tails would look narrow for ever."""
        self.far_run = self.far_run + 1 if far else 0
        if far and self.far_run < FRESH:
            if not look.nonfinite:
                self.strays.append((look.mean, look.std))
            return
        self.learn_strays()
        if self.far_run == FRESH:
            self.reset()
        self.looks += 1
        self.rows.push(look.rows)
        if look.nonfinite:
            return
        if self.role == "float":
            for level, value in (
                (self.mean, look.mean),
                (self.std, look.std),
                (self.low, look.low),
                (self.high, look.high),
            ):
                level.push(value)
        self.learn_counts(look)

    def learn_strays(self) -> None:
        """Learn the far batches that have just ended, when they were few."""
        for mean, std in self.strays if len(self.strays) <= BRIEF and self.role == "float" else ():
            self.mean.push(mean)
            self.std.push(std)
        self.strays = []

    def learn_counts(self, look: TensorSummary) -> None:
        """Learn the token histogram or the labels of a batch."""
        if look.counts is None:
            return
        if self.role == "ids":
            if self.tokens is None:
                self.tokens = torch.zeros(BUCKETS, dtype=torch.float64, device="cpu")
            elif self.looks > 2:
                self.nats.push(divergence(look.counts, self.tokens) if look.nats is None else look.nats)
            self.tokens.mul_(DECAY).add_(look.counts)
        elif self.role == "label":
            self.learn_labels(look)

    def learn_labels(self, look: TensorSummary) -> None:
        """Learn the entropy within the batch beside that of the last batches together."""
        assert look.counts is not None
        self.classes = {value: count * DECAY for value, count in self.classes.items() if count > 1e-3}
        for value, count in enumerate(look.counts.tolist()):
            if count:
                self.classes[int(look.low) + value] = self.classes.get(int(look.low) + value, 0.0) + count
        own = entropy_of(look.counts)
        self.entropy.push(own)
        enough = look.rows >= LEAST_ROWS * len(self.classes) and len(self.classes) > 1
        self.skewed = self.skewed + 1 if enough and own < SKEW * self.pooled() else 0

    def pooled(self) -> float:
        """The entropy of the labels of the last batches together, nats."""
        return entropy_of(torch.tensor(list(self.classes.values()), dtype=torch.float64, device="cpu"))

    def still_now(self, look: TensorSummary) -> list[int]:
        """The channels that moved in every batch and stand still since; one that moves again is left alone."""
        if look.channels != self.channels:
            self.resized = self.resized or self.channels > 0
            self.channels = look.channels
        if self.resized:
            return []
        still = set(look.still)
        if look.rows < FRESH or self.looks < STILL_LEARNT:
            self.was_still |= still
            return []
        self.was_still |= self.stopped - still
        self.stopped = still - self.was_still
        return sorted(self.stopped)

    def learn_padding(self, lengths: Tensor | None, width: int, pad: int | None) -> None:
        """Learn the row lengths of a batch padded to `width`; a tail value that changes between batches is no
        padding."""
        if lengths is None or (pad is not None and self.pad_id not in (None, pad)):
            return
        self.pad_id = pad if pad is not None else self.pad_id
        longest, shortest = int(lengths.max()), int(lengths.min())
        self.pad.push(1.0 - float(lengths.sum()) / max(lengths.numel() * width, 1))
        self.longest.push(longest / width)
        self.lengths = (shortest, longest, width)

    def reset(self) -> None:
        """Drop what was learnt of values: the data is another from now on."""
        for name in ("mean", "std", "low", "high", "nats"):
            setattr(self, name, BaselineLevel())
        self.looks, self.tokens = 0, None
