"""Do all samples that were drawn arrive in the batches?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.epochs import Epoch
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DroppedRows(Check, frozen=True):
    """Samples are drawn and do not arrive.

    What it catches
        A collate_fn that filters samples (None, unreadable, too long).
    Why it matters
        The batch shrinks and its mean weighs the rest more; under data parallelism ranks of unequal batches are
        averaged as if they were equal.
    How it decides
        Rows of a batch against the indices the sampler drew for it, counted over a pass. It is a note: a filter may be
        wanted, its cost should be known.
    What to do
        Filter the dataset before training, or replace the lost samples by others.
    Example
        step 31, rank 0: 41 of 1024 samples drawn in pass 0 are in no batch (29 short batches; train.py:40); expected
        every sample drawn to arrive. Filter before the loader.
    """

    needs: ClassVar[tuple[type[Epoch]]] = (Epoch,)
    remedies: ClassVar[tuple[str, ...]] = (
        "filter the dataset once, before the loader",
        "replace a lost sample by another one in collate_fn",
    )
    proved_by: ClassVar[str] = "data/clips_left_out"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per loader."""
        for fact in window.new(Epoch):
            if fact.dropped and not window.memory(self).setdefault(fact.loader, False):
                window.memory(self)[fact.loader] = True
                at = f"; {fact.frame.file.rsplit('/', 1)[-1]}:{fact.frame.line}" if fact.frame is not None else ""
                yield self.finding(
                    window,
                    "note",
                    f"{fact.dropped} samples drawn in pass {fact.number} are in no batch ({fact.short} short "
                    f"batches{at}); expected every sample drawn to "
                    "arrive. Filter before the loader.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    dropped=fact.dropped,
                    short=fact.short,
                )
