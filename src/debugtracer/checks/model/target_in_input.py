"""Is the target among the inputs?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.target_column import TargetColumn
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TargetInInput(Check, frozen=True):
    """A column of the input is the target.

    What it catches
        A table of which the label column was not dropped, also after scaling; columns that hold it together: a rolling
        mean that reaches into the hour to be predicted beside the hour before, a total beside its parts.
    Why it matters
        The model reads the answer off: training and validation look perfect, and in service the column is missing.
    How it decides
        In `looks` inspected batches in a row the same column of a flat input of at least three columns has a
        correlation of 1 (to float32 rounding) with a target of one number a row. Inputs of one or two columns are left
        alone, and so is one loss beside another (a lesson of its own). Or the same two or three of at least five
        columns, with three rows for each, add up to it (to 1e-5 of its deviation) with fixed weights; two of them are
        related (a correlation of 0.5), as columns made of the target are and a toy's drawn ones are not.
    What to do
        Drop the column before the table becomes a tensor; end windows before the row that is predicted.
    Example
        step 0, rank 0: column 11 of 12 of batch[0] is the target (equal values) in 3 batches of 32; expected no column
        that tells it. Drop the column.
    """

    needs: ClassVar[tuple[type[TargetColumn]]] = (TargetColumn,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_leak"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = ("drop the label column before the table becomes a tensor",)
    proved_by: ClassVar[str] = "model/whole_table"

    looks: int = 3
    """Batches in a row (ours, as for a double softmax)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per column."""
        first = window.memory(self)
        for fact in (one for one in window.new(TargetColumn) if not one.apart):
            if fact.looks == 1:
                first[fact.key()] = fact.ref
            if fact.looks == self.looks and fact.together:
                yield self.adding_up(window, fact)
            elif fact.looks == self.looks:
                how = "equal values" if fact.equal else "a straight line of it"
                yield self.finding(
                    window,
                    "warning",
                    f"column {fact.column} of {fact.columns} of {fact.path or 'the input'} is the target ({how}) in "
                    f"{fact.looks} batches of {fact.rows}; "
                    "expected no column that tells it. Drop the column.",
                    ref=first.get(fact.key(), fact.ref),
                    place=Place(frame=fact.frame),
                    column=float(fact.column),
                )

    def adding_up(self, window: Window, fact: TargetColumn) -> Finding:
        """Build the finding of columns that hold the target together."""
        which = ", ".join(map(str, fact.together[:-1])) + f" and {fact.together[-1]}"
        return self.finding(
            window,
            "warning",
            f"columns {which} of {fact.columns} of {fact.path or 'the input'} add up to the target, with the same "
            f"weights in {fact.looks} batches of {fact.rows}; expected no columns that tell it. Look for a window or a "
            "total that reaches into the row that is predicted.",
            ref=window.memory(self).get(fact.key(), fact.ref),
            place=Place(frame=fact.frame),
            confidence=0.75,
            remedies=(
                "end rolling windows before the row that is predicted: shift(1) before rolling(k)",
                "drop totals and differences that are made of the target",
            ),
            columns=float(len(fact.together)),
        )
