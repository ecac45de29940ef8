"""Are rows packed by their own lengths?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.other_lengths import OtherLengths
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LengthsMisaligned(Check, frozen=True):
    """The lengths by which rows are packed are those of other rows.

    What it catches
        `lengths, order = lengths.sort(descending=True)` before pack_padded_sequence without `x = x[order]`.
    Why it matters
        Long rows are cut short, short ones are read on through their padding, and nothing says so.
    How it decides
        In `looks` inspected steps the rows that are packed end in zeros, which are their padding, and the places where
        they end are the very numbers of the lengths, each as often, in another order: `share` of the rows or more were
        given the length of another one.
    What to do
        Put both in one order, `x = x[order]`, or leave that to torch: `enforce_sorted=False`.
    Example
        step 1, rank 0: pack_padded_sequence (model.py:9) is given the lengths 30, 30, 29 for rows that end at 12, 30,
        17, and 38 of 40 rows have the length of another one, in 2 looks; expected each row with its own. Put the rows
        in the order of the lengths, x = x[order], or pass them as they are with enforce_sorted=False.
    """

    needs: ClassVar[tuple[type[OtherLengths]]] = (OtherLengths,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "pack_padded_sequence(x, lengths, enforce_sorted=False) of both as they are",
        "put both in one order: lengths, order = lengths.sort(descending=True); x = x[order]",
    )
    proved_by: ClassVar[str] = "model/seal_pups"

    looks: int = 2  # inspected steps (ours)
    share: float = 0.25  # of the rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(OtherLengths):
            memory[fact.frame] = memory.get(fact.frame, 0) + (fact.differ >= self.share * fact.rows)
            if memory[fact.frame] == self.looks and fact.differ >= self.share * fact.rows:
                yield self.finding(
                    window,
                    "warning",
                    f"pack_padded_sequence{spot(fact.frame)} is given the lengths {shown(fact.given)} for rows that "
                    f"end at {shown(fact.ends)}, and {fact.differ} of {fact.rows} rows have the length of another one, "
                    f"in {self.looks} looks; expected each row with its own. Put the rows in the order of the lengths, "
                    "x = x[order], or pass them as they are with enforce_sorted=False.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                )


def shown(numbers: tuple[int, ...]) -> str:
    """Format the first three."""
    return ", ".join(map(str, numbers[:3]))
