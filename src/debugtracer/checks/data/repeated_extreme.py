"""Is a code for a missing value kept as a number?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import with_samples
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme as Seen
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RepeatedExtreme(Check, frozen=True):
    """The very same number comes again and again, far outside of all others of its column.

    What it catches
        -9999, 999 or 1e20 for "not measured", taken as a measurement, before or after the column was scaled.
    Why it matters
        A few of them make the mean and the spread that the column is scaled with, so that all others become nearly one
        number; the loss of a batch that holds one jumps.
    How it decides
        Least and most of each column of the floating tensors of a loader are read while that is cheap. One number lies
        more than ten times the range of all others away from them, in `batches` batches and `rows` samples of
        them, twice in one row or in one batch. Columns of few different values, padding at an end of rows, batches with
        a mask of the places, and programs that compare with that number or clamp it, are left alone.
    What to do
        Make it NaN where the data is read, fill it or leave the row out, and only then scale.
    Example
        step 20, rank 0: column 2 of batch[0] of Plant (data.py:80) is -20.41 in 48 of 640 rows (samples 341, 342, 350,
        351, 355, 360 and 30 more), the same number in 18 batches, where all others lie from 0.0289 to 0.0507; expected
        measured values. It looks like a code for a missing value: fill it before the column is scaled.
    """

    needs: ClassVar[tuple[type[Seen]]] = (Seen,)
    kind: ClassVar[str] = "data_range_extreme"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "read the code as missing (na_values=, or x[x == code] = nan), fill it, and only then scale the column",
        "or leave these rows out, or mask them in the loss",
    )
    proved_by: ClassVar[str] = "data/mill_race"

    batches: int = 3  # that hold it (ours)
    rows: int = 4  # different samples, or rows where the samples are not known (ours)
    share: float = 0.5  # of the rows at most (ours: what most rows hold is no exception)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each column."""
        memory = window.memory(self)
        for fact in window.new(Seen):
            place = fact.loader.number, fact.path, fact.column
            enough = fact.batches >= self.batches and (len(fact.samples) or fact.rows) >= self.rows
            if place in memory or fact.handled or not fact.again or not enough or fact.rows > self.share * fact.of:
                continue
            memory[place] = True
            yield self.describe(window, fact)

    def describe(self, window: Window, fact: Seen) -> Finding:
        """Build the finding with the number, its column and its samples."""
        column = f"column {fact.column} of " if fact.column is not None else ""
        return self.finding(
            window,
            "warning",
            f"{column}{fact.path} of {fact.loader.dataset or 'a loader'}{made_at(fact.made)} is "
            f"{as_float(fact.value):.4g} in {fact.rows} of {fact.of} rows{with_samples(fact.samples)}, the same number "
            f"in {fact.batches} batches, where all others lie from {as_float(fact.low):.3g} to "
            f"{as_float(fact.high):.3g}; expected measured values. It looks like a code for a missing value: fill it "
            "before the column is scaled.",
            ref=fact.ref,
            place=Place(
                frame=(fact.made[0] if fact.made else None) or fact.loader.made_at or fact.loader.frame,
                sample_index=fact.samples or None,
            ),
            value=as_float(fact.value),
            rows=float(fact.rows),
        )
