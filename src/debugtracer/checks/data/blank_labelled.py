"""Is the blank of a CTC loss also a label?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.ctc_call import CtcCall
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class BlankLabelled(Check, frozen=True):
    """A label of the targets has the id that a CTC loss takes for no label at all.

    What it catches
        Letters that are numbered from 0 beside `CTCLoss(blank=0)`, the default; a blank of `len(letters)` that the loss
        was not told of.
    Why it matters
        The paths of the loss are no alignments then: it goes below 0, and that letter is never written.
    How it decides
        In `calls` inspected calls of one line a target, within its length, is the blank. torch requires that none is.
    What to do
        Number the labels from 1, or give the loss the id of the blank: `CTCLoss(blank=len(letters))`.
    Example
        step 2, rank 0: 61 of 96 rows of ctc_loss (train.py:72) have the blank, 0, among their targets, in 3 calls;
        expected labels other than the blank. Number the labels from 1, or set blank=.
    """

    needs: ClassVar[tuple[type[CtcCall]]] = (CtcCall,)
    kind: ClassVar[str] = "ctc_infeasible"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "number the labels from 1: 0 is the blank",
        "or give the loss the id of the blank, one more than the last label: CTCLoss(blank=len(letters))",
    )
    proved_by: ClassVar[str] = "data/pipe_knocks"

    calls: int = 3  # inspected calls of a line (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the calls of each line; said once."""
        memory = window.memory(self)
        for call in window.new(CtcCall):
            if not call.blanks:
                continue
            seen = memory.setdefault(call.frame, [])
            seen.append(call)
            if len(seen) != self.calls:
                continue
            rows, held = sum(c.rows for c in seen), sum(c.blanks for c in seen)
            yield self.finding(
                window,
                "error",
                f"{held} of {rows} rows of ctc_loss{spot(call.frame)} have the blank, {call.blank}, among their "
                f"targets, in {self.calls} calls; expected labels other than the blank. Number the labels from 1, or "
                "set blank=.",
                ref=call.ref,
                place=Place(frame=call.frame),
                rows=float(held),
            )
