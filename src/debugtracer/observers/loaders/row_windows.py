"""Remembers the runs of values in the rows of a loader: windows cut from one series share them at other offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from debugtracer.observers.data.digest import WHOLE, bare, readable
from debugtracer.recorder.tape.batches import Batch

RUN = 8  # values in a row that two windows must share (ours: floats of a measurement never agree in as many by chance)
DISTINCT = 6  # different values among them (ours): constants, padding, backgrounds and switches have fewer
VALUES = 1 << 20  # runs of one loader that are remembered (ours: 8 MiB)
ROWS = 4096  # rows of one loader that are remembered (ours)
LEAVES = 4  # tensors of a batch that are looked at (ours)
CHANNELS = 8  # values of a place that are looked at (ours)
LONGEST = 4096  # places of a row (ours)
A_BATCH = 1 << 16  # places of a batch that are looked at: a millisecond (ours)
FIRST, SECOND = 0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9  # odd numbers that spread bits (splitmix64)


@dataclass
class SharedWindows:
    """How many windows of an evaluation lie inside those of training."""

    shared: int = 0
    rows: int = 0
    """Rows with runs that tell."""
    same: int = 0
    """Rows that end as one of training does: the row itself."""
    places: list[int] = field(default_factory=list)
    """Which rows those are that share."""


@dataclass
class RowWindows:
    """The first pass of one loader."""

    began: int = -1
    """Backwards before its first batch."""
    full: bool = False
    runs: dict[str, list[Tensor]] = field(default_factory=dict)
    """Path -> for each batch the hash of each run, shape (rows, offsets)."""
    tails: dict[str, list[Tensor]] = field(default_factory=dict)
    """Path -> for each batch whether the last run of each row tells, shape (rows,)."""
    times: list[int] = field(default_factory=list)
    """Backwards before each of these batches."""
    indices: list[int | None] = field(default_factory=list)
    """Dataset index of each row."""

    def add(self, batch: Batch, iteration: int) -> None:
        """Remember the runs of a batch, while there are few; batches of one kind alone."""
        if self.full:
            return
        series = [(path, laid) for path, leaf in batch.tensors() if (laid := laid_out(leaf)) is not None][:LEAVES]
        most = min((max(1, A_BATCH // laid.shape[1]) for _, laid in series), default=0)
        leaves = [(path, hashed(laid[:most])) for path, laid in series]
        shapes = {path: known[0].shape[1] + RUN - 1 for path, known in self.runs.items()}
        rows = {len(steps) for _, steps in leaves}
        fits = not shapes or shapes == {path: steps.shape[1] for path, steps in leaves}
        if len(rows) != 1 or not fits:
            self.full = True
            return
        if self.began < 0:
            self.began = iteration
        for path, steps in leaves:
            found = steps.unfold(1, RUN, 1)
            self.runs.setdefault(path, []).append((found * spread(RUN)).sum(-1))
            last = found[:, -1].sort(-1).values
            self.tails.setdefault(path, []).append((last[:, 1:] != last[:, :-1]).sum(-1) + 1 >= DISTINCT)
        (count,) = rows
        self.times.append(iteration)
        known = batch.indices if batch.indices is not None and len(batch.indices) == batch.rows else ()
        self.indices += known[:count] or (None,) * count
        values = sum(part.numel() for parts in self.runs.values() for part in parts)
        self.full = len(self.indices) >= ROWS or values >= VALUES


def laid_out(leaf: Tensor) -> Tensor | None:
    """Return a batch as rows, places (the longer dimension) and channels; None for what holds no series."""
    if not readable(leaf) or not leaf.is_floating_point() or leaf.dim() not in (2, 3) or not leaf.numel():
        return None
    values = bare(leaf) if leaf.dim() == 3 else bare(leaf).unsqueeze(2)
    if values.shape[2] > values.shape[1]:
        values = values.transpose(1, 2)
    if values.element_size() not in WHOLE or not RUN < values.shape[1] <= LONGEST:
        return None
    return values[:, :, :CHANNELS]


def hashed(values: Tensor) -> Tensor:
    """Hash each place of each row, shape (rows, places)."""
    whole = values.contiguous().view(WHOLE[values.element_size()]).long()
    return (mixed(whole) * spread(values.shape[2])).sum(-1)


def mixed(bits: Tensor) -> Tensor:
    """Return whole numbers with their bits spread: sums of them then differ."""
    bits = (bits + FIRST) * SECOND
    bits = (bits ^ (bits >> 29)) * FIRST
    return bits ^ (bits >> 32)


def spread(count: int) -> Tensor:
    """Return as many odd factors."""
    return mixed(torch.arange(1, count + 1, device="cpu")) | 1


def shared_windows(train: RowWindows, other: RowWindows) -> SharedWindows:
    """Count the rows of which every series that tells ends with a run that came inside a row of training before: not
    at its end, so that training went on from there. Runs that come twice at one offset, or in one row, are data that
    repeat themselves."""
    told = SharedWindows()
    before = sum(time < other.began for time in train.times)
    if not before or not other.times:
        return told
    known = {path: torch.cat(parts[:before]) for path, parts in train.runs.items()}
    tails = {path: torch.cat([part[:, -1] for part in parts]) for path, parts in other.runs.items()}
    tells = {path: torch.cat(parts) for path, parts in other.tails.items()}
    wanted = torch.cat(list(tails.values()))
    inside, ends, repeats = places_of(known, wanted)
    for row in range(len(other.indices)):
        runs = {path: int(tails[path][row]) for path in tails if bool(tells[path][row])}
        runs = {path: run for path, run in runs.items() if run not in repeats}
        told.rows += bool(runs)
        told.same += any((path, run) in ends for path, run in runs.items())
        if runs and all(run in inside for run in runs.values()):
            told.shared += 1
            told.places.append(row)
    return told


def places_of(known: dict[str, Tensor], wanted: Tensor) -> tuple[set[int], set[tuple[str, int]], set[int]]:
    """Which runs came inside a row, which at the end of one of each path, and which repeat themselves."""
    inside: set[int] = set()
    ends: set[tuple[str, int]] = set()
    repeats: set[int] = set()
    for path, runs in known.items():
        hits = torch.isin(runs, wanted).nonzero()
        found = list(zip(runs[hits[:, 0], hits[:, 1]].tolist(), *hits.T.tolist(), strict=True))
        repeats |= set(twice((run, row) for run, row, _ in found)) | set(twice((run, at) for run, _, at in found))
        inside |= {run for run, _, at in found if at < runs.shape[1] - 1}
        ends |= {(path, run) for run, _, at in found if at == runs.shape[1] - 1}
    return inside, ends, repeats


def twice(pairs: Iterator[tuple[int, int]]) -> Iterator[int]:
    """The runs of pairs that come more than once."""
    return (run for (run, _), count in Counter(pairs).items() if count > 1)
