"""Do positions get their encoding, or samples?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.placed_rows import PlacedRows
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PlacedByBatch(Check, frozen=True):
    """A table of positions is added along the batch: each sample gets a vector by its place, and no position does.

    What it catches
        The `PositionalEncoding` of torch's tutorial, `x + self.pe[: x.size(0)]` with a table of (length, 1, features),
        which is written for (positions, batch, features), in a model that takes the batch first.
    Why it matters
        All positions of a sample get the same vector, so a transformer cannot tell their order; the same sample gets
        another answer at another place of the batch, and batches larger than the table fail.
    How it decides
        In `looks` inspected steps with different inputs (B, 1, D) is added to (B, T, D), where it is the first part of
        a longer table that nothing computes. That B is the batch is known: the loader drew B samples for it, or the
        model gives one row of B each; and T is another number. A table of which all vectors are used has one for each
        sample on purpose, and so has one that is cut at another place each time.
    What to do
        Keep the table as (1, length, features) and cut it along the positions.
    Example
        step 1, rank 0: x + table (train.py:22) adds (32, 1, 48), the first of 500 vectors, to (32, 24, 48), whose first
        dimension is the batch: each sample gets a vector by its place, and its 24 positions the same one; expected one
        for each position. Add table[:24] as (1, 24, 48).
    """

    needs: ClassVar[tuple[type[PlacedRows]]] = (PlacedRows,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the table as (1, length, features) and add table[:, : x.size(1)]",
        "or give the module (positions, batch, features): x.transpose(0, 1), in all layers",
    )
    proved_by: ClassVar[str] = "model/storm_hours"

    looks: int = 2
    """Inspected steps of the same line (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(PlacedRows):
            looks = memory.setdefault(fact.frame, {})
            if len(looks) >= self.looks:
                continue
            looks[fact.ref.step] = fact
            if len(looks) == self.looks:
                yield self.describe(window, next(iter(looks.values())))

    def describe(self, window: Window, fact: PlacedRows) -> Finding:
        """Build the finding with both shapes."""
        rows, positions, wide = fact.shape
        name = fact.name.rpartition(".")[2] or "a stored table"
        return self.finding(
            window,
            "warning",
            f"x + {name}{spot(fact.frame)} adds {fact.added}, the first of {fact.stored} vectors, to {fact.shape}, "
            f"whose first dimension is the batch: each sample gets a vector by its place, and its {positions} "
            f"positions the same one; expected one for each position. Add {name}[:{positions}] as "
            f"(1, {positions}, {wide}).",
            ref=fact.ref,
            place=Place(module=fact.module, frame=fact.frame),
            rows=rows,
            positions=positions,
        )
