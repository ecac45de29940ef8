"""Is the data of the evaluation new to the model?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.epochs import Overlap
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


@dataclass(frozen=True)
class TrainEvalOverlap(Check):
    """Samples of the evaluation were trained on.

    What it catches
        A split that overlaps: a slice off by some rows, two random splits of the same data, duplicates in the source.
    Why it matters
        The evaluation measures memory. The number is too good, and nothing in the curve shows it.
    How it decides
        Rows of a loader that only evaluates, with the values of a row seen in training (the first 4,096 rows of the
        first pass of each are compared). From 1 % on, and at least 3 rows, it is a warning. When nearly all rows of the
        evaluation, or of what was trained on, are shared it is a note: the training data is evaluated on purpose.
    What to do
        Split once, by index, before anything is shuffled or copied; remove duplicates first.
    Example
        step 320, rank 0: 48 of 256 rows of the evaluation (train.py:33) were trained on (train.py:32), e.g. samples 3,
        17; expected none. Split by index, once.
    """

    needs: ClassVar[tuple[type[Overlap]]] = (Overlap,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_train_eval_overlap"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "split once by index before shuffling: torch.utils.data.random_split",
        "remove duplicates before the split",
    )
    proved_by: ClassVar[str] = "data/overlapping_split"

    share: float = 0.01  # share of shared rows (ours: public data sets hold about as many near duplicates)
    most: float = 0.9  # share from which the training data is evaluated on purpose (ours)
    least: int = 3  # rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per loader, at the end of the run."""
        for fact in window.new(Overlap):
            share = fact.shared / max(fact.rows, 1)
            meant = max(share, fact.shared / fact.trained if fact.trained else 0.0) >= self.most
            if fact.shared < self.least or share < self.share:
                continue
            at = f" ({fact.frame.file.rsplit('/', 1)[-1]}:{fact.frame.line})" if fact.frame is not None else ""
            trained = (
                f" ({fact.train_frame.file.rsplit('/', 1)[-1]}:{fact.train_frame.line})"
                if fact.train_frame is not None
                else ""
            )
            samples = f", e.g. samples {', '.join(map(str, fact.samples[:4]))}" if fact.samples else ""
            yield self.finding(
                window,
                "note" if meant else "warning",
                f"{fact.shared} of {fact.rows} rows of the evaluation{at} were trained on{trained}{samples}; expected "
                "none. Split by index, once.",
                ref=fact.ref,
                place=Place(frame=fact.frame, sample_index=fact.samples or None),
                share=share,
            )
