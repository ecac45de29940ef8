"""Does any target count?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TargetsAllIgnored(Check, frozen=True):
    """Every target equals ignore_index.

    What it catches
        A label mask that hides everything, or batches without a labelled row.
    Why it matters
        The mean of no target is 0/0, a NaN loss; the sum is 0, a loss without gradient.
    How it decides
        The share of targets equal to ignore_index is 1. It is exact when all of `calls` inspected calls of one line are
        like that; a single such batch is a note (its NaN, if there is one, has a verdict of its own).
    What to do
        Look at how labels are masked; skip batches without a target.
    Example
        step 0, rank 0: all 128 targets of cross_entropy are ignore_index -100 in 3 of 3 calls; expected some that
        count. Look at the label mask.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    kind: ClassVar[str] = "labels_all_ignored"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "look at how the labels are masked",
        "skip batches that have no target that counts",
    )
    proved_by: ClassVar[str] = "data/masked_answers"

    calls: int = 3
    """Calls of the same line that must all be like that (ours, as for a double softmax)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for a batch, an error for a line."""
        fresh = {call.key() for call in window.new(LossCall) if empty(call)}
        for key in fresh:
            calls = [c for c in window.seen(LossCall) if c.key() == key]
            always = len(calls) >= self.calls and all(map(empty, calls))
            call = calls[0] if always else next(c for c in calls if empty(c))
            many = f" in {len(calls)} of {len(calls)} calls" if always else ""
            yield self.finding(
                window,
                "error" if always else "note",
                f"all {elements(call)} targets of {call.loss} are ignore_index {call.ignore_index}{many}; expected "
                "some that count. Look at the label mask.",
                ref=call.ref,
                place=Place(frame=call.frame),
            )


def elements(call: LossCall) -> int:
    """The number of targets of a call."""
    total = 1
    for size in call.target_shape:
        total *= size
    return total


def empty(call: LossCall) -> bool:
    """True when no target of the call counts."""
    return call.counted == 0 and call.ignored == 1.0 and call.ignore_index is not None
