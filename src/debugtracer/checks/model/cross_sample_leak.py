"""Does the output of one sample depend on the others?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CrossSampleLeak(Check, frozen=True):
    """Samples of a batch influence each other in evaluation mode.

    What it catches
        A softmax, mean or norm over the batch dimension, a view that mixes samples, batch and time exchanged
        (batch_first).
    Why it matters
        Predictions depend on the company a sample is in; the model learns from it and fails on single samples.
    How it decides
        On a copy in evaluation mode (batch norm uses its running statistics), all samples but the first change; the
        output of the first must not. Contrastive models, mixtures with a capacity and time-first batches do it on
        purpose, so it is a note.
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
            if fact.trial == "other_samples" and fact.changed:
                line = f", line {fact.frame.line}" if fact.frame else ""
                yield self.finding(
                    window,
                    "note",
                    f"the output of sample 0 changes by {fact.size:.2g} standard deviations when other samples change "
                    f"(first in {fact.module or fact.root}{line}); expected no change. Look at the dimensions there.",
                    ref=fact.ref,
                    place=Place(module=fact.module, frame=fact.frame),
                )
