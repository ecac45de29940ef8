"""Do the tensors of a loader keep their shape?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import which
from debugtracer.trace.facts.batch_content import BatchChange
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ShapeDrift(Check, frozen=True):
    """A tensor of the batch has another number of dimensions, or another size in a dimension that never varied.

    What it catches
        A missing or superfluous `squeeze`, samples of another resolution, a feature column that is missing in one file.
    Why it matters
        A loss of (B, 1) against (B) is stretched to (B, B) without an error; a broadcast hides the wrong size.
    How it decides
        Dimensions that vary from batch to batch (lengths of texts) are learnt; the first dimension is the rows. A
        changed number of dimensions after `steady` batches is a warning, unless the batch has one row (a squeeze that
        took the rows away) or is the last of its epoch; everything else is a note, but for another size in the first
        `steady` batches: what is padded to its longest row often varies that late for the first time.
    What to do
        Look at the first batch of the other shape, and give every sample the same rank where the dataset makes it.
    Example
        step 30, rank 0: batch[1] of batch 30 of Scans (train.py:18) has shape (*, 1), before it (*,) in 30 batches;
        expected one rank. Look at how the sample is made.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchChange,)
    kind: ClassVar[str] = "data_shape_mismatch"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "give every sample the same rank where the dataset makes it",
        "assert the shape in collate_fn",
    )
    proved_by: ClassVar[str] = "data/wells_two_formats"

    steady: int = 20  # batches of one shape before a change of rank is loud, or of size told (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each change."""
        for fact in window.new(BatchChange):
            if fact.what in ("dtype", "device", "layout"):
                continue
            last = fact.loader.batches is not None and fact.batch >= fact.loader.batches - 1
            loud = fact.what == "rank" and fact.batches >= self.steady and fact.rows != 1 and not last
            if fact.what != "rank" and fact.batches < self.steady:
                continue
            wanted = "one rank" if fact.what == "rank" else f"dimension {fact.what} to stay"
            yield self.finding(
                window,
                "warning" if loud else "note",
                f"{fact.path} of {which(fact.batch, fact.loader)} has shape {fact.after}, before it {fact.before} in "
                f"{fact.batches} batches; "
                f"expected {wanted}. Look at how the sample is made.",
                ref=fact.ref,
                place=Place(frame=fact.loader.made_at or fact.loader.frame),
                batches=fact.batches,
            )
