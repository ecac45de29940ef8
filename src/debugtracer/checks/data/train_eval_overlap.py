"""Is the data of the evaluation new to the model?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.epochs import Overlap
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SEEDED = (
    "draw the split once and give both data sets their rows of it",
    "or make it the same each time: random_state=0, a generator with a seed of its own",
)
"""What helps where each part draws a split of its own."""


class TrainEvalOverlap(Check, frozen=True):
    """Samples of the evaluation were trained on.

    What it catches
        A split that overlaps: a slice off by some rows, two random splits of the same data, duplicates in the source;
        windows that slide over one series and are split at random.
    Why it matters
        The evaluation measures memory. The number is too good, and nothing in the curve shows it.
    How it decides
        Rows of a loader that only evaluates, with the values of a row seen in training (the first 4,096 rows of the
        first pass of each are compared), trained on before that loader last ran: a pool that is scored, and trained on
        afterwards, shares none. From 1 % on, and at least 3 rows, it is a warning. When nearly all rows of the
        evaluation, or of what was trained on, are shared it is a note: the training data is evaluated on purpose; a
        warning where another dataset, made beside it, is read nowhere.
        Windows: every series of a row (input, target) ends with 8 values in a row that came further to the front of a
        training row before, for at least `inside` of the rows. Values that repeat themselves, and constants, are left
        out; rows that were trained on as they are mean that the training period is evaluated on purpose. A split in
        time shares no end of a window: what follows it is new.
    What to do
        Split once, by index, before anything is shuffled or copied; remove duplicates first. Cut a series in time, then
        make windows of each part.
    Example
        step 320, rank 0: 48 of 256 rows of the evaluation (train.py:33) were trained on (train.py:32), e.g. samples 3,
        17; expected none. Split by index, once.
    """

    needs: ClassVar[tuple[type[Overlap]]] = (Overlap,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_train_eval_overlap"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "rows that have nothing in common: split once by index before shuffling, torch.utils.data.random_split",
        "remove duplicates before the split",
        "windows of a series: cut the series in time first, with a gap of one window",
    )
    proved_by: ClassVar[str] = "data/overlapping_split"

    share: float = 0.01  # share of shared rows (ours: public data sets hold about as many near duplicates)
    most: float = 0.9  # share from which the training data is evaluated on purpose (ours)
    least: int = 3  # rows (ours)
    inside: float = 0.2  # share of windows (ours: a split in time shares none, one of long blocks a few at their ends)
    fewest: int = 8  # windows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per loader, at the end of the run."""
        for fact in window.new(Overlap):
            if fact.how == "windows":
                yield from self.judge_windows(window, fact)
                continue
            share = fact.shared / max(fact.rows, 1)
            meant = max(share, fact.shared / fact.trained if fact.trained else 0.0) >= self.most
            if fact.shared < self.least or share < self.share:
                continue
            yield self.finding(
                window,
                "note" if meant and not fact.unread else "warning",
                f"{fact.shared} of {fact.rows} rows of the evaluation{spot(fact.frame)} were trained on"
                f"{spot(fact.train_frame)}{examples(fact)}{anew(fact)}{left_over(fact)}; expected none. "
                + (f"Give the loader {fact.unread}." if fact.unread else "Split by index, once."),
                ref=fact.ref,
                place=Place(
                    frame=fact.split or fact.frame,
                    symptom_frame=fact.frame if fact.split is not None else None,
                    sample_index=fact.samples or None,
                ),
                remedies=remedies_of(fact),
                share=share,
            )

    def judge_windows(self, window: Window, fact: Overlap) -> Iterator[Finding]:
        """Judge windows that lie inside those of training."""
        share = fact.shared / max(fact.rows, 1)
        if fact.shared < self.fewest or share < self.inside or fact.same >= self.share * fact.rows:
            return
        yield self.finding(
            window,
            "warning",
            f"{fact.shared} of {fact.rows} windows of the evaluation{spot(fact.frame)} end with {fact.length} values "
            f"that windows of training{spot(fact.train_frame)} hold at another place, with what follows them"
            f"{examples(fact)}; expected none. Cut the series in time before windows are made of it.",
            ref=fact.ref,
            place=Place(frame=fact.split or fact.frame, symptom_frame=fact.frame, sample_index=fact.samples or None),
            share=share,
        )


def anew(fact: Overlap) -> str:
    """Say where the rows are drawn for each part by itself."""
    return f", as a random split{spot(fact.split)} is drawn anew for each part" if fact.split is not None else ""


def remedies_of(fact: Overlap) -> tuple[str, ...]:
    """Say what to change where it is known."""
    if fact.unread:
        return (f"give {fact.unread} to the DataLoader of the evaluation",)
    return SEEDED if fact.split is not None else ()


def left_over(fact: Overlap) -> str:
    """Name the dataset that is made for an evaluation, as it seems, and that nothing reads."""
    return f", and {fact.unread}{spot(fact.unread_frame)} is read nowhere" if fact.unread else ""


def examples(fact: Overlap) -> str:
    """Format some of the samples that are shared."""
    return f", e.g. samples {', '.join(map(str, fact.samples[:4]))}" if fact.samples else ""
