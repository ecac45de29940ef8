"""The history of one DataLoader: its passes so far, and digests of its batches."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import torch

from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.observers.data.digest import digest, sample_digests
from debugtracer.observers.loaders.row_windows import RowWindows
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.epochs import HEAD

ROWS = 4096  # rows of a loader whose values are remembered (ours: about 10 ms in all)
LOST = "collate_fn changed the rows"


@dataclass
class EpochPass:
    """One pass in flight."""

    number: int
    sampler_epoch: int | None
    expected: int | None = None
    """len(loader) when it began."""
    batches: int = 0
    order: list[int] = field(default_factory=list)
    content: list[int] = field(default_factory=list)
    ascending: bool = True
    last: int = -1
    dropped: int = 0
    short: int = 0
    renewed: bool = False


@dataclass
class RepeatedBatch:
    """A batch that has begun several passes in a row."""

    digests: tuple[int, ...]
    first: int
    count: int = 0
    asked: int = 1


class EpochHistory:
    """`info` is the loader that runs now."""

    info: LoaderInfo

    def __init__(self, number: int) -> None:
        self.number = number
        self.passes = 0
        self.trains = False
        self.evaluates = False
        """One of its batches was followed by a call of a module without a graph."""
        self.now: EpochPass | None = None
        self.renewed = False
        """A loader has taken the place of one that is gone, and has not begun a pass yet."""
        self.joins = False
        """A batch had a tensor with as many rows as samples, or more, beside one with another number."""
        self.asked = False
        """The dataset was asked for an index beyond its length."""
        self.left = False
        """The pass in flight is not followed: some of its batches were not seen."""
        self.digests: tuple[int, ...] = ()
        """Of the batch fetched last."""
        self.again: RepeatedBatch | None = None
        self.rows: dict[int, int | None] = {}
        """Digest of each row seen -> its dataset index."""
        self.came: dict[int, int] = {}
        """Digest of each row seen -> the iteration in which it came first."""
        self.last = 0
        """The iteration in which its last batch came."""
        self.windows, self.windows_of = RowWindows(), 1
        """What was remembered of a pass, and which that is, from 1."""
        self.shards = self.seeded = self.worker_init = self.persistent = False
        self.samples: int | None = None
        """Length of the dataset."""
        self.shuffles: bool | None = None
        self._sampler: weakref.ref[Any] | None = None
        self._sampler_line: tuple[Frame | None] | None = None

    def take(self, info: LoaderInfo) -> None:
        """Follow this loader from now on."""
        self.renewed, self.info = self.passes > 0, info

    def gone(self) -> bool:
        """Whether the loader was collected."""
        return self.info.loader() is None

    def loader(self) -> Any:
        """Dereference the weakly held object; None if it is gone."""
        return self.info.loader()

    def sampler_line(self) -> Frame | None:
        """The line that built its sampler. Reads source, once."""
        if self._sampler_line is None:
            frame = self.info.frame
            links = argument_origin((frame,), ("DataLoader",), "sampler", 3) if frame is not None else ()
            self._sampler_line = (links[-1].frame if links else None,)
        return self._sampler_line[0]

    def length(self) -> int | None:
        """The length of the loader, where that is known without running the user's code for long."""
        try:
            return len(self.loader())
        except Exception:
            return None  # a stream, or a sampler without a length

    def leave(self) -> None:
        """Forget the pass in flight."""
        self.now, self.left = None, True

    def turn(self, batch: Batch) -> None:
        """Begin a new pass with this batch."""
        self.left = False
        self.read_sampler()
        sampler = self._sampler() if self._sampler is not None else None
        epoch = getattr(sampler, "epoch", None)
        self.now = EpochPass(
            self.passes,
            epoch if isinstance(epoch, int) and not isinstance(epoch, bool) else None,
            self.length(),
            renewed=self.renewed,
        )
        self.passes, self.renewed = self.passes + 1, False

    def read_sampler(self) -> None:
        """Learn from its kind whether it shuffles, shards or repeats."""
        loader = self.loader()
        self.worker_init = getattr(loader, "worker_init_fn", None) is not None
        self.persistent = bool(getattr(loader, "persistent_workers", False))
        self.samples = self.info.dataset_len()
        sampler = getattr(loader, "sampler", None)
        outer = getattr(loader, "batch_sampler", None)
        parts = [
            s
            for s in (outer, sampler, getattr(sampler, "sampler", None), getattr(outer, "sampler", None))
            if s is not None
        ]
        self.shards = any(hasattr(s, "num_replicas") or hasattr(s, "num_processes") for s in parts)
        self.seeded = any(
            isinstance(getattr(s, "generator", None), torch.Generator) for s in [*parts, loader] if s is not None
        )
        if any(type(s).__name__ == "RandomSampler" or getattr(s, "shuffle", None) is True for s in parts):
            self.shuffles = True
        elif any(type(s).__name__ == "SequentialSampler" or getattr(s, "shuffle", None) is False for s in parts):
            self.shuffles = False
        speaks = next((s for s in parts if hasattr(s, "epoch")), None)
        try:
            self._sampler = weakref.ref(speaks) if speaks is not None else None
        except TypeError:
            self._sampler = None

    def add(self, batch: Batch, iteration: int) -> None:
        """Add a batch to the pass in flight."""
        now = self.now
        assert now is not None
        leaves = batch.tensors()
        self.digests = tuple(value for _, leaf in leaves if (value := digest(leaf)) is not None)
        if len(now.order) < HEAD and batch.indices is not None:
            now.order.append(hash(batch.indices))
            # rows of one sample, or of one item of a stream, share its index
            drawn = tuple(dict.fromkeys(batch.indices))
            now.ascending &= all(a < b for a, b in zip((now.last, *drawn), drawn, strict=False))
            now.last = batch.indices[-1] if batch.indices else now.last
        if len(now.content) < HEAD and self.digests:
            now.content.append(hash(self.digests))
        self.count_lost(now, batch)
        self.note_repeat(now, iteration)
        self.last = iteration
        self.remember_rows(batch, iteration)
        self.remember_windows(batch, iteration)
        now.batches += 1

    def count_lost(self, now: EpochPass, batch: Batch) -> None:
        """Count rows that were drawn and did not arrive: of samples that are a row each, not of graphs whose nodes
        follow one another."""
        size = len(batch.drawn) if batch.drawn is not None else batch.loader.batch_size
        if batch.indices is not None or not batch.note.endswith(LOST) or batch.rows is None or size is None:
            return
        if batch.rows > size or any(leaf.dim() and leaf.size(0) >= size for _, leaf in batch.tensors()):
            self.joins = True
        if self.joins:
            now.dropped = now.short = 0
        elif batch.rows < size:
            now.dropped += size - batch.rows
            now.short += 1

    def note_repeat(self, now: EpochPass, iteration: int) -> None:
        """Compare the first batch of this pass with the first of the pass before."""
        if now.batches:
            if self.again is not None:
                self.again.asked = max(self.again.asked, now.batches + 1)
        elif self.again is not None and self.digests and self.again.digests == self.digests:
            self.again.count += 1
        else:
            self.again = RepeatedBatch(self.digests, iteration)

    def remember_rows(self, batch: Batch, iteration: int) -> None:
        """Remember digests of the samples, while there are few."""
        if len(self.rows) >= ROWS or self.passes > 1:
            return
        found = sample_digests([leaf for _, leaf in batch.tensors()])
        known = batch.indices if batch.indices is not None and len(batch.indices) == len(found) else None
        self.rows.update(zip(found, known or (None,) * len(found), strict=True))
        for one in found:
            self.came.setdefault(one, iteration)

    def shared_with(self, train: EpochHistory) -> list[int]:
        """The rows of this evaluation that had been trained on when it last ran: a pool that is scored, and whose rows
        are trained on afterwards, shares none."""
        return [row for row in self.rows if train.came.get(row, self.last) < self.last]

    def remember_windows(self, batch: Batch, iteration: int) -> None:
        """Remember the runs of the first pass; of an evaluation before anything was trained, of the next one."""
        early = self.windows.began == 0 < iteration and self.evaluates and not self.trains
        if early and not batch.number:
            self.windows, self.windows_of = RowWindows(), self.passes
        if self.passes == self.windows_of:
            with torch.no_grad():
                self.windows.add(batch, iteration)
