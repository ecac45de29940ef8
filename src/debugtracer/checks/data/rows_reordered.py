"""Does row i of one part of a batch belong to row i of the others?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.collated_rows import CollatedRows
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RowsReordered(Check, frozen=True):
    """A collate function sorts one part of a batch and leaves the others in their order.

    What it catches
        `texts = sorted(texts, key=len)` beside images that stay where they are; lengths that are sorted for packing
        while labels are not taken by the same order.
    Why it matters
        Nearly every input is trained towards the answer of another one of its batch: the loss stops where guessing is.
    How it decides
        Only where the collate function calls something that sorts or shuffles. The samples of a batch are fetched once
        more, on copies, and each is made a batch of alone; two rows or more of two tensors hold no common sample. The
        whole batch made again is equal bit for bit, so nothing was drawn; every row of every part is a sample, so
        nothing says that rows were exchanged on purpose; a part that comes twice (mixed pairs, negatives) is left out.
    What to do
        Sort the list of samples before it is taken apart.
    Example
        step 0, rank 0: in 45 of 48 rows batch[1] (sorted at data.py:70) and batch[0] are of different samples: 712 and
        31, 9 and 440; expected one sample in each row. Sort the samples before they are taken apart.
    """

    needs: ClassVar[tuple[type[CollatedRows]]] = (CollatedRows,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "sort the list of samples before it is taken apart: batch.sort(key=lambda sample: len(sample[1]))",
        "take every part by the same order: images[order], texts[order], labels[order]",
    )
    proved_by: ClassVar[str] = "data/choir_cards"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each pair."""
        for fact in window.new(CollatedRows):
            pairs = ", ".join(f"{one} and {other}" for one, other in fact.first[:2])
            sorts = spot(fact.frame).replace("(", "(sorted at ") if fact.frame is not None else ""
            yield self.finding(
                window,
                "warning",
                f"in {fact.apart} of {fact.rows} rows {fact.path}{sorts} and {fact.other} are of different samples: "
                f"{pairs}; expected one sample in each row. Sort the samples before they are taken apart.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame, symptom_frame=fact.loader_frame),
                apart=fact.apart,
                rows=fact.rows,
            )
