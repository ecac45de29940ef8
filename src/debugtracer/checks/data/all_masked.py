"""Is there anything in each row that counts?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import place_of, which, with_samples
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window


class AllMasked(Check, frozen=True):
    """A batch whose labels are all ignored, or rows that are padding from end to end.

    What it catches
        Texts that truncation cut to nothing, batches without a labelled row, samples whose mask is 0 everywhere.
    Why it matters
        The mean over no target is 0/0; attention over no key is NaN.
    How it decides
        An integer tensor holds one negative value in the whole batch and held others before, or a padding mask beside
        token ids has rows without a 1. Always a note: the loss that takes them decides (data/targets-all-ignored), and
        its NaN has a verdict of its own.
    What to do
        Skip such samples where the dataset makes them, or divide by max(count, 1).
    Example
        step 14, rank 0: all 56 values of batch[1] of batch 14 of TensorDataset (train.py:16) are -100 (samples
        112..119); expected some that count. Drop such samples.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity,)
    kind: ClassVar[str] = "labels_all_ignored"
    remedies: ClassVar[tuple[str, ...]] = (
        "drop samples without a label or a token where the dataset makes them",
        "divide by max(count, 1)",
    )
    proved_by: ClassVar[str] = "data/unlabelled_batch"

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for each batch without labels; for rows that are padding only, one for a tensor."""
        told: set[tuple[int, str]] = window.memory(self).setdefault("told", set())
        for fact in window.new(BatchOddity):
            if fact.what == "ignored":
                text = (
                    f"all {fact.of} values of {fact.path} of {which(fact.batch, fact.loader)} are "
                    f"{as_float(fact.value):.0f}{with_samples(fact.samples)}"
                )
            elif fact.what == "empty" and (key := (fact.loader.number, fact.path)) not in told:
                told.add(key)
                text = (
                    f"{fact.count} of {fact.of} rows of {fact.path} of {which(fact.batch, fact.loader)} are padding "
                    f"only{with_samples(fact.samples)}"
                )
            else:
                continue
            yield self.finding(
                window,
                "note",
                f"{text}; expected some that count. Drop such samples.",
                ref=fact.ref,
                place=place_of(fact),
                count=fact.count,
                of=fact.of,
            )
