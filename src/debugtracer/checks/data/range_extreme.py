"""Is a value far outside everything seen before?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader, named, place_of, which, with_samples
from debugtracer.trace.facts.batch_content import BatchOddity, BatchProfile
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RangeExtreme(Check, frozen=True):
    """A value more than ten times beyond the range of the batches before.

    What it catches
        A record in another unit, a corrupt one, a fill value like 1e20 that stands for "missing".
    Why it matters
        One such value makes the gradient of a whole batch its own; in half precision it overflows.
    How it decides
        Least and most of the last 64 batches looked at are learnt over 50 batches; a value `beyond` times that range
        away is a note with its samples. It becomes part of a verdict when the loss jumps in the same step
        (data/hard-samples). Of stored data that a program without a loader takes its rows from, all rows are asked at
        once, a column at a time in a narrow table. Integers are ids and are left alone. With `most` above 0 a loader
        whose usual range is wider than that is a warning too: a fixed rule, for `--preset seed`.
    What to do
        Look at the sample. Clip or scale robustly, or drop it where the dataset makes it.
    Example
        step 77, rank 0: batch[0] of batch 77 of Meters (train.py:25) reaches 4.1e+06 (sample 1240); 77 batches before
        it stayed below 3.9, a range of 7.6; expected values within 10 ranges. Look at the sample.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity, BatchProfile, StoredRows)
    kind: ClassVar[str] = "data_range_extreme"
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the sample and repair its unit",
        "clip or scale robustly where the dataset makes the sample",
        "drop it",
    )
    proved_by: ClassVar[str] = "data/watt_record"

    # largest minus least value of a floating tensor, a fixed rule (1e4 with `--preset seed`); 0 is off
    most: float = 0.0

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for each batch with such rows, a warning for each loader beyond a fixed range."""
        yield from self.fixed(window)
        yield from self.stored(window)
        for fact in window.new(BatchOddity):
            if fact.what == "range":
                value, usual = as_float(fact.value), as_float(fact.usual)
                side = "below" if value > usual else "above"
                yield self.finding(
                    window,
                    "note",
                    f"{fact.path} of {which(fact.batch, fact.loader)} reaches {value:.4g}{with_samples(fact.samples)}; "
                    f"{fact.looked} batches before stayed {side} {usual:.4g}, a range of {as_float(fact.spread):.4g}; "
                    "expected values within 10 ranges. Look at the sample.",
                    ref=fact.ref,
                    place=place_of(fact),
                    value=value,
                    usual=usual,
                )

    def stored(self, window: Window) -> Iterator[Finding]:
        """Yield a note for each array of stored data with such rows, once."""
        told = window.memory(self)
        for fact in window.new(StoredRows):
            for leaf in fact.leaves:
                if leaf.far and leaf.name not in told:
                    told[leaf.name] = fact
                    yield self.describe_rows(window, fact, leaf)

    def describe_rows(self, window: Window, fact: StoredRows, leaf: StoredLeaf) -> Finding:
        """Build the note with the furthest number, its column and its rows."""
        far = max(leaf.far, key=lambda one: abs(as_float(one.value)))
        rows = tuple(sorted({row for one in leaf.far for row in one.rows}))
        column = f", column {far.column}," if far.column is not None else ""
        return self.finding(
            window,
            "note",
            f"{leaf.name}{column} reaches {as_float(far.value):.4g} ({named(rows).replace('sample', 'row')} of "
            f"{fact.length}); all others lie from {as_float(far.low):.4g} to {as_float(far.high):.4g}; expected values "
            "within 10 ranges. Look at the row: it may hold a code for a missing value.",
            ref=fact.ref,
            place=Place(
                frame=(leaf.made[0] if leaf.made else None) or fact.frame, symptom_frame=fact.call, sample_index=rows
            ),
            value=as_float(far.value),
            usual=as_float(far.high if as_float(far.value) > as_float(far.high) else far.low),
        )

    def fixed(self, window: Window) -> Iterator[Finding]:
        """The fixed rule, once for each tensor of a loader."""
        told = window.memory(self)
        for fact in window.new(BatchProfile) if self.most > 0 else ():
            for leaf in fact.leaves:
                low, high = as_float(leaf.low), as_float(leaf.high)
                if (
                    leaf.role == "float"
                    and high - low > self.most
                    and told.setdefault((fact.loader.number, leaf.path), fact) is fact
                ):
                    yield self.finding(
                        window,
                        "warning",
                        f"{leaf.path} of {fact.loader.dataset or 'a loader'} reaches from {low:.4g} to {high:.4g}; "
                        f"expected a range within {self.most:g}. "
                        "Normalise it in the dataset.",
                        ref=fact.ref,
                        place=at_loader(fact.loader),
                        low=low,
                        high=high,
                    )
