"""Were the inputs shuffled, and the labels left in the order of the file?"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.class_blocks import ClassBlocks
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class ClassesInBlocks(Check, frozen=True):
    """The labels of a dataset stand class by class, its inputs were put into another order, and nothing was learnt.

    What it catches
        `x = x[order]` without `y = y[order]`; a list of samples that is shuffled beside a list of labels that is not.
    Why it matters
        Each input has the label of another one. The loss goes to the entropy of the classes and stays there; a part of
        the rows that is cut off for validation holds one class alone.
    How it decides
        Three things at once. In the order of the dataset all rows of each class stand together; the source puts the
        inputs, and not the labels, into another order; a regression with a kernel tells the classes from the inputs no
        better than by chance (4 standard deviations of 64 pairings drawn at random). At the end of the run the median
        of the last losses is not below `learnt` of the entropy of the classes, after `steps` steps or more.
    What to do
        Take both by the same index.
    Example
        step 379, rank 0: of 2400 rows all of each of the 2 classes stand together, while the inputs are put into
        another order at train.py:35, and the loss, 0.657, stands at the entropy of the classes, 0.662; expected both
        sides in one order. Take both by one index.
    """

    needs: ClassVar[tuple[str | type, ...]] = (ClassBlocks, LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "take inputs and labels by the same index: x[order], y[order]",
        "shuffle pairs: rows = list(zip(x, y)); random.shuffle(rows)",
    )
    proved_by: ClassVar[str] = "data/otter_calls"

    learnt: float = 0.95  # of the entropy (ours: what has learnt anything is below)
    steps: int = 100  # of the run (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Keep the fact, and judge it by the losses at the end."""
        memory = window.memory(self)
        for fact in window.new(ClassBlocks):
            memory[fact.key()] = fact
        losses = window.finite(LOSS)
        if not window.ended or window.ref.step + 1 < self.steps or not losses:
            return
        now = median(losses[-32:])
        for fact in memory.values():
            entropy = as_float(fact.entropy)
            if now < self.learnt * entropy:
                continue
            yield self.finding(
                window,
                "warning",
                f"of {fact.rows} rows all of each of the {fact.classes} classes stand together, while the inputs are "
                f"put into another order{spot(fact.frame).replace('(', 'at ').rstrip(')')}, and the loss, {now:.3g}, "
                f"stands at the entropy of the classes, {entropy:.3g}; expected both sides in one order. Take both by "
                "one index.",
                place=Place(frame=fact.frame or fact.loss_frame, symptom_frame=fact.loss_frame),
                loss=now,
                entropy=entropy,
            )
