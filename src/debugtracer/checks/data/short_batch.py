"""Are the batches as long as they should be?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import place_of, which
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window


class ShortBatch(Check, frozen=True):
    """A batch with less than half of the usual rows in the middle of an epoch.

    What it catches
        A collate function that drops samples, a sampler that yields short batches.
    Why it matters
        Its mean counts as much as that of a full batch: a few samples get a large step, and batch normalisation gets
        noisy statistics.
    How it decides
        Rows below `share` of the median of the last 32 batches, not the last batch of an epoch, in a loader whose
        length is known. Always a note.
    What to do
        Look at what collate_fn leaves out; sample another one in its place.
    Example
        step 31, rank 0: batch 31 of Clips (train.py:24) has 3 rows, usual are 16; expected at least 8. Look at what
        collate_fn leaves out.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity,)
    kind: ClassVar[str] = "data_short_batch"
    remedies: ClassVar[tuple[str, ...]] = (
        "look at what collate_fn or the sampler leaves out",
        "drop_last=True where only the end of an epoch is short",
    )
    proved_by: ClassVar[str] = "data/clips_left_out"

    share: float = 0.5  # of the usual rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for each such batch."""
        for fact in window.new(BatchOddity):
            rows, usual = as_float(fact.value), as_float(fact.usual)
            if fact.what == "short" and rows < self.share * usual:
                yield self.finding(
                    window,
                    "note",
                    f"{which(fact.batch, fact.loader)} has {rows:.0f} rows, usual are {usual:.0f}; expected at least "
                    f"{self.share * usual:.0f}. "
                    "Look at what collate_fn leaves out.",
                    ref=fact.ref,
                    place=place_of(fact),
                    rows=rows,
                    usual=usual,
                )
