"""Does a dataset hold more than its length says?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.row_reach import RowReach
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RowsBeyondLength(Check, frozen=True):
    """`__len__` counts something else than `__getitem__` gives: the rows beyond are never drawn.

    What it catches
        A part of the data by a list of indices that `__getitem__` does not go through; a length in files where the
        index counts windows, in documents where it counts sentences, in blocks where each position begins one.
    Why it matters
        Only the first files are ever seen. The loss falls as ever, and what is learnt does not carry over.
    How it decides
        When a pass is over, the dataset is asked once for the sample at its length, with all state restored afterwards.
        Most raise. Where it answers with a sample of the usual shape the bound is looked for by bisection, for half a
        second at most: a dataset that answers any index has none. Told from `times` of its length on; a note where the
        length is a number that it was given. Where the length is that of a list of indices which no method reads, the
        line of `__getitem__` is the place: it gives the first rows for the chosen ones. Only for samplers of torch that
        draw 0 to length - 1.
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
        """Judge each loader once; of the parts of one class, such as clients, the first."""
        memory = window.memory(self)
        for fact in window.new(RowReach):
            if fact.chosen:
                if memory.setdefault(fact.fetch_frame, fact) is fact:
                    yield self.describe_choice(window, fact)
                continue
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

    def describe_choice(self, window: Window, fact: RowReach) -> Finding:
        """Build the finding of rows that were chosen by index and are not those that are given."""
        where = fact.fetch_frame
        return self.finding(
            window,
            "warning",
            f"{fact.dataset} has the length of self.{fact.chosen}{spot(fact.frame)}, {fact.length} indices of rows, "
            f"and __getitem__{spot(where)} never reads it: it gives the rows 0..{fact.length - 1} of {fact.reach}; "
            f"expected those of self.{fact.chosen}. Index through it: self.{fact.chosen}[index].",
            ref=fact.ref,
            place=Place(frame=where or fact.frame, symptom_frame=fact.loader_frame),
            remedies=(f"take the row that was chosen in __getitem__: self.{fact.chosen}[index] in place of index",),
            length=fact.length,
            reach=fact.reach,
        )
