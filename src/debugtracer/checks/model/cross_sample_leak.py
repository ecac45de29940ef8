"""Does the output of one sample depend on the others?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FIRST, FunctionTest
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

"""What a trial says where the sample depends on the first one of the batch alone."""


class CrossSampleLeak(Check, frozen=True):
    """Samples of a batch influence each other in evaluation mode.

    What it catches
        A softmax, mean or norm over the batch dimension, a view that mixes samples, batch and time exchanged
        (batch_first); neighbours of each sample that are taken from the first one, for want of an offset.
    Why it matters
        Predictions depend on the company a sample is in; the model learns from it and fails on single samples.
    How it decides
        On a copy in evaluation mode (batch norm uses its running statistics), all samples but the first change; the
        output of the first must not, nor that of the last. Contrastive models, mixtures with a capacity and time-first
        batches do it on purpose, so it is a note. It is a warning where the last one changes with the first alone, by
        an index tensor that takes rows from the joined rows of all samples. A reference that is meant is written by
        hand, `x[0]` or `x[:1]`, and stays a note.
    What to do
        Look at the module named: the dimension of its softmax or mean, the order of its view, batch_first.
    Example
        step 0, rank 0: the output of sample 0 changes by 0.6 standard deviations when other samples change (first in
        Model, line 21); expected no change. Look at the dimensions there.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "loss_misuse"
    confidence: ClassVar[float] = 0.4
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the dimension of the softmax or mean",
        "look at views that mix samples, and at batch_first",
    )
    proved_by: ClassVar[str] = "model/softmax_over_batch"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "other_samples" and fact.changed and fact.function == FIRST:
                yield self.of_the_first(window, fact)
            elif fact.trial == "other_samples" and fact.changed:
                line = f", line {fact.frame.line}" if fact.frame else ""
                yield self.finding(
                    window,
                    "note",
                    f"the output of sample {fact.position or 0} changes by {fact.size:.2g} standard deviations when "
                    f"other samples change (first in {fact.module or fact.root}{line}); expected no change. Look at "
                    "the dimensions there.",
                    ref=fact.ref,
                    place=Place(module=fact.module, frame=fact.frame),
                )

    def of_the_first(self, window: Window, fact: FunctionTest) -> Finding:
        """Build the finding of samples that read from the first one."""
        line = f", {file_line(fact.frame)}" if fact.frame else ""
        return self.finding(
            window,
            "warning",
            f"the output of sample {fact.position} changes by {as_float(fact.size or 0):.2g} standard deviations when "
            f"the first sample of the batch changes, and not when any other does (first in {fact.module or fact.root}"
            f"{line}); expected no change. All samples read from the first one: move the index of each sample to its "
            "own place in the joined rows.",
            ref=fact.ref,
            place=Place(module=fact.module, frame=fact.frame),
            remedies=(
                "add position in the batch * rows of a sample to an index that is used on joined rows",
                "or gather along a dimension of its own",
            ),
            confidence=0.85,
        )
