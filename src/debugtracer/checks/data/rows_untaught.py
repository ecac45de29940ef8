"""Does every sample have a target?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.untaught_rows import UntaughtRows
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 6  # samples named


class RowsUntaught(Check, frozen=True):
    """The labels of a share of the samples are all ignored: they train nothing.

    What it catches
        A mask of the prompt that hides the answer, too: a marker that is not found in some of the texts, lengths that
        are counted otherwise than the tokenizer counts them, answers that are cut off with the end of long prompts.
    Why it matters
        The loss is a mean over the targets that there are, so it looks right and falls. What only those samples could
        teach (second turns, long questions, one of two formats) is never learned.
    How it decides
        A cross-entropy is the only loss, and its targets are a tensor of the batches, a row of at least 4 for each
        sample. Of the first 128 samples `least` and `share` have no label but ignore_index, and each of 8 of them that
        are fetched again, twice, has none either: what is masked at random has some then. Rows that are filler
        throughout are not counted.
    What to do
        Look at one of the samples named, and at how its labels are masked; mend it, or leave the sample out.
    Example
        step 3, rank 0: 71 of the first 128 samples have no target: all their labels in batch['labels']
        (train.py:213) are -100, which cross_entropy ignores (samples 4, 6, 8, 9, 10, 13); expected some that count in
        each. train.py:182 writes -100 into a whole row: look at when it does.
    """

    needs: ClassVar[tuple[type[UntaughtRows]]] = (UntaughtRows,)
    kind: ClassVar[str] = "label_mask_wrong"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "look at one of these samples and at how its labels are masked: print(dataset[INDEX]) for one that is named",
        "leave out samples without a target where the data set is made, and say how many",
    )
    proved_by: ClassVar[str] = "data/ferry_questions"

    share: float = 0.1  # of the samples (ours: a rare one may be cut off)
    least: int = 8  # samples (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells it once."""
        for fact in window.new(UntaughtRows):
            if fact.empty < max(self.least, self.share * fact.rows):
                continue
            named = ", ".join(str(index) for index in fact.samples[:SHOWN])
            line = fact.written
            at = file_line(line) if line is not None else ""
            todo = (
                f"{at} writes {fact.ignored} into a whole row: look at when it does." if at else "Look at one of them."
            )
            yield self.finding(
                window,
                "warning",
                f"{fact.empty} of the first {fact.rows} samples have no target: all their labels in "
                f"{fact.path}{spot(fact.frame)} are {fact.ignored}, which {fact.loss} ignores (samples {named}); "
                f"expected some that count in each. {todo}",
                ref=fact.ref,
                place=Place(frame=line or fact.frame, sample_index=fact.samples),
                empty=float(fact.empty),
                rows=float(fact.rows),
            )
