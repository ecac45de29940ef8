"""Does each loader have a batch to give?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.numerics.crash_values import UNFIT
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.batchless_loader import BatchlessLoader
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LoaderBatchless(Check, frozen=True):
    """A loop goes through a DataLoader that has no batch.

    What it catches
        A validation set smaller than one batch under `drop_last=True`, a split of 0 rows, a folder or a filter in which
        nothing was found.
    Why it matters
        The loop does nothing: no training, or a metric of no rows, which is 0, the number of the epoch before, or a
        division by zero some lines further on.
    How it decides
        Where a pass begins, the length of the loader, as its sampler gives it, is 0. Data sets without a length are
        left alone.
    What to do
        Give the set more rows, the loader a smaller batch, or keep the last one: `drop_last=False`.
    Example
        step 82, rank 0: the loader of MyDataset (train.py:268) has no batch for the loop (train.py:229): 6 samples,
        batches of 8, and drop_last=True; expected at least 1. Pass drop_last=False, or take batches of 6 or fewer.
    """

    needs: ClassVar[tuple[type[BatchlessLoader]]] = (BatchlessLoader,)
    kind: ClassVar[str] = UNFIT
    confidence: ClassVar[float] = 0.9
    proved_by: ClassVar[str] = "data/last_greenhouses"
    remedies: ClassVar[tuple[str, ...]] = (
        "drop_last=False in this loader: the rows of a short batch count like any other",
        "more rows for this set, or a smaller batch",
    )

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for each such loader."""
        for fact in window.new(BatchlessLoader):
            yield self.describe(window, fact)

    def describe(self, window: Window, fact: BatchlessLoader) -> Finding:
        """What the loader draws from, and what it makes of it."""
        loop = f" for the loop{spot(fact.called)}" if fact.called not in (None, fact.frame) else ""
        held, advice = "0 samples", "Find out why nothing is in it"
        if fact.rows:
            held = f"{counted(fact.rows, 'sample')}, batches of {fact.batch_size}, and drop_last=True"
            advice = f"Pass drop_last=False, or take batches of {fact.rows} or fewer"
        return self.finding(
            window,
            "warning",
            f"the loader of {fact.dataset}{spot(fact.frame)} has no batch{loop}: {held}; expected at least 1. "
            f"{advice}.",
            ref=fact.ref,
            place=Place(
                frame=fact.frame or fact.called, symptom_frame=fact.called, argument="drop_last" if fact.rows else None
            ),
            remedies=self.remedies if fact.rows else self.remedies[1:],
            rows=float(fact.rows),
        )
