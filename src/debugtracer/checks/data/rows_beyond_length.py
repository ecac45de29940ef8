"""Does a dataset hold more than its length says?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.row_reach import RowReach
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RowsBeyondLength(Check, frozen=True):
    """`__len__` counts something else than `__getitem__` gives: the rows beyond are never drawn.

    What it catches
        A length in files where the index counts windows, in documents where it counts sentences, in blocks where each
        position begins one.
    Why it matters
        Only the first files are ever seen. The loss falls as ever, and what is learnt does not carry over.
    How it decides
        When a pass is over, the dataset is asked once for the sample at its length, with all state restored afterwards.
        Most raise. Where it answers with a sample of the usual shape the bound is looked for by bisection, for half a
        second at most: a dataset that answers any index has none. Told from `times` of its length on; a note where the
        length is a number that it was given. Only for samplers of torch that draw 0 to length - 1.
    What to do
        Let `__len__` return the number of samples, or cut the data down where that is meant.
    Example
        step 40, rank 0: Windows has length 24 (train.py:19), and __getitem__ answers up to index 959, so samples 24..
        959 are never drawn; expected the number of samples. Return it from __len__.
    """

    needs: ClassVar[tuple[type[RowReach]]] = (RowReach,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_rows_left_out"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "return the number of samples that __getitem__ can give from __len__",
        "if fewer are wanted: torch.utils.data.Subset, or a sampler with num_samples, says so",
    )
    proved_by: ClassVar[str] = "data/hive_hours"

    times: float = 2.0
    """Samples for each that is drawn (ours: a part of a split may be left out on purpose, by a length of its own)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each loader once."""
        for fact in window.new(RowReach):
            if fact.reach <= self.times * fact.length:
                continue
            yield self.finding(
                window,
                "warning" if fact.counts else "note",
                f"{fact.dataset} has length {fact.length}{spot(fact.frame)}, and __getitem__ answers up to index "
                f"{fact.reach - 1}, so samples {fact.length}..{fact.reach - 1} are never drawn; expected the number of "
                "samples. Return it from __len__.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame, symptom_frame=fact.loader_frame),
                length=fact.length,
                reach=fact.reach,
            )
