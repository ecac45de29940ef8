"""Do the tensors of a loader keep their dtype and device?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import which
from debugtracer.trace.facts.batch_content import BatchChange, BatchSchema
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DtypeDrift(Check, frozen=True):
    """A tensor of the batch changes its dtype, device or layout in the middle of a run.

    What it catches
        A column that turns from integer to float at the first missing value, a collate function that casts only
        sometimes, a cached part of the data that was saved in another precision.
    Why it matters
        Numbers lose their precision, labels become regression targets, the model runs in another dtype; a compiled
        model compiles again.
    How it decides
        Each set of paths of a loader has its own schema (loaders of several tasks are told apart). A changed dtype
        after `steady` batches is a warning, a changed device or layout, and any change while little is known, a note.
        With `allowed` (`--preset seed`) a floating tensor of another dtype is a note from the first batch on.
    What to do
        Cast in one place: in the dataset, to the dtype that the model takes.
    Example
        step 24, rank 0: batch[1] of batch 24 of Visits (train.py:21) is float64; it was int64 in 24 batches before;
        expected one dtype. Cast it where the dataset makes the sample.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchChange, BatchSchema)
    kind: ClassVar[str] = "data_dtype_drift"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "cast in __getitem__ or in collate_fn: torch.as_tensor(value, dtype=...)",
        "look at the first sample of another dtype: a missing value turns a column of integers into floats",
    )
    proved_by: ClassVar[str] = "data/visits_export"

    steady: int = 20  # batches of one dtype before a change is loud (ours)
    # floating dtypes a batch may have, () is all of them (float32 and float64 with `--preset seed`)
    allowed: tuple[str, ...] = ()

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each change, and for each floating tensor of a dtype that is not allowed."""
        for schema in window.new(BatchSchema):
            for leaf in schema.leaves:
                if self.allowed and "float" in leaf.dtype and leaf.dtype not in self.allowed:
                    yield self.finding(
                        window,
                        "note",
                        f"{leaf.path} of {schema.loader.dataset} is {leaf.dtype}; expected "
                        f"{' or '.join(self.allowed)}. Cast it where the dataset makes the sample.",
                        ref=schema.ref,
                        place=Place(module=leaf.path, frame=schema.loader.made_at or schema.loader.frame),
                    )
        for fact in window.new(BatchChange):
            if fact.what in ("dtype", "device", "layout"):
                loud = fact.what == "dtype" and fact.batches >= self.steady
                yield self.finding(
                    window,
                    "warning" if loud else "note",
                    f"{fact.path} of {which(fact.batch, fact.loader)} is {fact.after}; it was {fact.before} in "
                    f"{fact.batches} batches before; "
                    f"expected one {fact.what}. Cast it where the dataset makes the sample.",
                    ref=fact.ref,
                    place=Place(frame=fact.loader.made_at or fact.loader.frame),
                    batches=fact.batches,
                )
