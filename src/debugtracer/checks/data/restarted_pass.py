"""Does the loop go through its data, or take the first batch again and again?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.epochs import Restart
from debugtracer.trace.facts.stored_rows import StoredRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

FIRST = re.compile(r"\[\s*0?\s*:\s*[\w.]+\s*[\],]")  # `x[:32]`, `x[0:size]`: the first rows are asked for


class RestartedPass(Check, frozen=True):
    """Each step takes the first batch of a new pass, and it is always the same one.

    What it catches
        `next(iter(loader))` inside the loop, with an order that is fixed.
    Why it matters
        The model learns one batch by heart: the loss falls as nowhere else, and nothing is learned of the rest.
    How it decides
        Ten passes in a row began with a batch of equal values and gave no second one, though the loader holds 20
        batches or more. Fewer batches are left alone: an overfit test repeats its batch on purpose. Without a loader:
        the very same rows of stored data, cut anew, in each of `looks` inspected steps, when all looks are over. That
        is a note where the line asks for the first rows, as a test that overfits does, or the rows do not lie one after
        the other: they may be all that have labels.
    What to do
        Make the iterator once and ask it for each batch, `for batch in loader`.
    Example
        step 10, rank 0: the batch of iteration 0 has come 10 more times, each time as the first and only one of a new
        pass over 40 batches (train.py:14); expected new samples in each step. Make the iterator once, outside the loop.
    """

    needs: ClassVar[tuple[type[Restart], type[StoredRows]]] = (Restart, StoredRows)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_restarted_pass"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = ("make the iterator once, outside the loop: `for batch in loader`",)
    proved_by: ClassVar[str] = "data/first_batch_only"

    tiny: int = 20  # batches of a pass below which repetition is by intent (ours)
    looks: int = 5  # inspected steps with the same rows (ours: the first three, and those of steps 100 and 200)
    all_looks: int = 6  # that are made (observers/data/stored_rows.py)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per repeated batch."""
        memory = window.memory(self)
        told: set[object] = memory.setdefault("told", set())
        held: dict[object, StoredRows] = memory.setdefault("held", {})
        for rows in window.new(StoredRows):
            held[rows.key()] = rows
        for key, rows in held.items():
            if key not in told and (window.ended or rows.looks >= self.all_looks) and self.stands(rows):
                told.add(key)
                yield self.describe_rows(window, rows)
        for fact in window.new(Restart):
            if fact.asked > 1 or fact.batches is None or fact.batches < self.tiny:
                continue
            at = f" ({fact.frame.file.rsplit('/', 1)[-1]}:{fact.frame.line})" if fact.frame is not None else ""
            yield self.finding(
                window,
                "warning",
                f"the batch of iteration {fact.first} has come {fact.count} more times, each time as the first and "
                f"only one of a new pass over {fact.batches} batches{at}; expected new samples in each step. Make the "
                "iterator once, outside the loop.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                count=fact.count,
            )

    def stands(self, rows: StoredRows) -> bool:
        """Whether the same rows came in all looks at them, of a set of many batches."""
        return rows.same and rows.looks >= self.looks and rows.parts() >= self.tiny

    def describe_rows(self, window: Window, fact: StoredRows) -> Finding:
        """Build the same of rows that the program takes itself."""
        meant = not fact.in_order or (fact.frame is not None and FIRST.search(fact.frame.code) is not None)
        return self.finding(
            window,
            "note" if meant else "warning",
            f"the {fact.rows} rows from row {fact.begins} on are cut anew and are the same in all {fact.looks} steps "
            f"looked at, of {fact.length} rows of {fact.leaves[0].name}; expected new rows in each step. Let the index "
            f"move with the step{', unless these are all that it is to learn from' if meant else ''}.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.call),
            count=fact.looks,
        )
