"""Is every batch of an epoch a new one?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader, which
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window


class DuplicateBatch(Check, frozen=True):
    """The same batch comes again within one epoch.

    What it catches
        A stream that every worker reads from the beginning, a generator seeded in `__getitem__`, a sampler that is
        stuck.
    Why it matters
        An epoch holds a part of the data several times; the loss falls faster than the model learns.
    How it decides
        The content of a batch (a few elements of every tensor, evenly spread) equals one of the last 1,000 of the same
        epoch. It is a warning when `times` batches come again at most as many batches later as there are workers (a
        stream that is not shared out), or directly after each other under other dataset indices. Epochs of fewer than
        20 batches, batches drawn again by their indices, and copies of a dataset are left alone or are a note.
    What to do
        Share the stream out: `worker = get_worker_info()`, then `islice(lines, worker.id, None, worker.num_workers)`.
    Example
        step 9, rank 0: batch 9 of Lines (train.py:31) holds the same values as batch 8, the 3rd one that comes again in
        this epoch; 2 workers read the stream; expected new samples. Share the stream out by get_worker_info().
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity,)
    kind: ClassVar[str] = "data_duplicate_batch"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "share the stream out over the workers: get_worker_info() in __iter__",
        "seed once, outside __getitem__; look at the sampler",
    )
    proved_by: ClassVar[str] = "data/stream_read_twice"

    times: int = 3  # batches that come again at once, before it is loud (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note at the first, a warning when it repeats."""
        counts = window.memory(self)
        for fact in window.new(BatchOddity):
            if fact.what != "duplicate" or fact.detail == "same":
                continue
            near = fact.count <= max(fact.loader.num_workers - 1, 1) and (
                fact.loader.num_workers > 1 if fact.loader.stream else fact.detail == "other"
            )
            key = (fact.loader.number, near)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] not in (1, self.times):
                continue
            workers = (
                f"; {fact.loader.num_workers} workers read the stream"
                if fact.loader.stream and fact.loader.num_workers > 1
                else ""
            )
            advice = "Share the stream out by get_worker_info()." if workers else "Look at where the samples are drawn."
            yield self.finding(
                window,
                "warning" if near and counts[key] == self.times and fact.training else "note",
                f"{which(fact.batch, fact.loader)} holds the same values as batch {as_float(fact.value):.0f}, number "
                f"{counts[key]} that comes again"
                f"{workers}; expected new samples. {advice}",
                ref=fact.ref,
                place=at_loader(fact.loader),
                times=counts[key],
            )
