"""Do loaders that run side by side go on in step?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.paired_loaders import PairBroken
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PairsBroken(Check, frozen=True):
    """Two loaders handed out the same rows side by side in the first pass, and other rows in the next.

    What it catches
        Images and captions, or inputs and targets, in two shuffled loaders that begin from one seed and are zipped:
        `zip` draws once more from the first than from the second, or one generator is used elsewhere, and from then on
        nothing belongs together.
    Why it matters
        The first epoch learns; all others teach that nothing fits. No number becomes NaN.
    How it decides
        In the first pass at least three batches of both, fetched one right after the other, had the same dataset
        indices in the same shuffled order, and none had others. Then a batch of the same number has others.
    What to do
        Put both into one dataset, so that one index fetches both; or reseed both generators before each pass.
    Example
        step 25, rank 0: two loaders (train.py:28 and train.py:29) gave the same shuffled rows side by side in 25
        batches, and in batch 0 of pass 1 rows 7, 31, 2, 90 beside rows 5, 77, 40, 1; expected the same rows. Put both
        into one dataset.
    """

    needs: ClassVar[tuple[type[PairBroken]]] = (PairBroken,)
    kind: ClassVar[str] = "data_pairs_broken"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "put both into one dataset (TensorDataset(a, b), or one with both in __getitem__) and use one loader",
        "reseed both generators before each pass: loader.generator.manual_seed(epoch)",
    )
    proved_by: ClassVar[str] = "data/herbarium_sheets"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge a pair once."""
        for fact in window.new(PairBroken):
            at = " and ".join(file_line(f) for f in (fact.frame, fact.other_frame) if f is not None)
            yield self.finding(
                window,
                "warning",
                f"two loaders{f' ({at})' if at else ''} gave the same shuffled rows side by side in {fact.equal} "
                f"batches, and in batch {fact.number} of pass {fact.passes} rows {listed(fact.rows)} beside rows "
                f"{listed(fact.other_rows)}; expected the same rows. Put both into one dataset.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.other_frame),
                equal=fact.equal,
            )


def listed(rows: tuple[int, ...]) -> str:
    """Format a few row numbers."""
    return ", ".join(map(str, rows))
