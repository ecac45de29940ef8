"""Is the evaluation scaled with the statistics of the training set?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.batch_content import BatchProfile
from debugtracer.trace.facts.own_scale import OwnScale
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OwnScaled(Check, frozen=True):
    """The data of the evaluation were standardised with their own mean and deviation.

    What it catches
        `scaler.fit_transform(x_test)`, `standardise(x_test)` with a function that takes the mean of what it is given.
    Why it matters
        The same measurement is one number in training and another in the evaluation. The result is that of a model
        which nobody can use: a single new row has no mean of its own.
    How it decides
        One loader trains, another evaluates, both from stored tables. In both the same number of columns (`least` or
        more) has a mean of 0 and a deviation of 1 to the rounding of float32, over exactly the rows of its own table.
        With the statistics of the training set the means of the evaluation would be off by chance, some ten thousand
        times as far. Two names of one table, parts of a table that was scaled as a whole, and a table that was scaled
        part by part (each person by itself) are left alone.
    What to do
        Scale the evaluation with the mean and deviation of the training set.
    Example
        step 400, rank 0: the 400 rows that the evaluation is given as batch[0] (train.py:12) have mean 0 and deviation
        1 to rounding in 8 of 8 columns, and so have the 1600 of training; expected means that are off by about 0.05.
        Scale them with the statistics of training: scaler.transform, not fit_transform.
    """

    needs: ClassVar[tuple[type, ...]] = (OwnScale, BatchProfile)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_unnormalised"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "scale the evaluation with the mean and deviation of the training set: scaler.transform, not fit_transform",
    )
    proved_by: ClassVar[str] = "data/mussel_beds"

    least: int = 2
    """Columns (ours: one may be scaled for a reason of its own)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Compare each evaluating loader with the training ones, once."""
        profiles = {fact.loader.number: fact for fact in window.seen(BatchProfile)}
        scales = {(fact.number, fact.path): fact for fact in window.seen(OwnScale)}
        told = window.memory(self)
        for profile in profiles.values():
            theirs = scales.get((profile.loader.number, profile.evaluated))
            if profile.training or theirs is None or theirs.columns < self.least or profile.loader.number in told:
                continue
            for other in profiles.values():
                ours = scales.get((other.loader.number, profile.evaluated))
                if other.training and not other.evaluated and ours is not None and is_apart(ours, theirs):
                    told[profile.loader.number] = True
                    yield self.describe(window, ours, theirs)
                    break

    def describe(self, window: Window, ours: OwnScale, theirs: OwnScale) -> Finding:
        """Build the finding at the line that made the table."""
        return self.finding(
            window,
            "warning",
            f"the {theirs.rows} rows that the evaluation is given as {theirs.path}{spot(theirs.frame)} have mean 0 and "
            f"deviation 1 to rounding in {theirs.columns} of {theirs.of} columns, and so have the {ours.rows} of "
            f"training; expected means that are off by about {theirs.rows**-0.5:.2g}. Scale them with the statistics "
            "of training: scaler.transform, not fit_transform.",
            place=Place(frame=theirs.frame, symptom_frame=theirs.made),
            rows=float(theirs.rows),
            columns=float(theirs.columns),
        )


def is_apart(ours: OwnScale, theirs: OwnScale) -> bool:
    """Whether two tables are two, with as many columns, of which the same number was scaled."""
    return ours.stored != theirs.stored and (ours.of, ours.columns) == (theirs.of, theirs.columns)
