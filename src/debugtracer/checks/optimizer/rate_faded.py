"""Does a rate that the loop writes itself last as long as the run?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import RateFaded as FadedRate
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RateFaded(Check, frozen=True):
    """A learning rate that the loop writes itself was next to nothing for a good part of the run.

    What it catches
        A factor for one batch that is multiplied into the rate and never taken out again, a decay per epoch that is
        applied in each batch, an exponent that counts in the wrong unit.
    Why it matters
        Nothing fails: after the first updates the model stands still, and the loss stays where it was.
    How it decides
        When the run is over: the rate was above 0 and below 1e-3 of its peak in `share` of at least `updates` updates,
        and fell in several before that. No scheduler sets it (`optimizer/sched-boundary` judges those). A rate that is
        0 is another check's (`optimizer/lr-zero`).
    What to do
        Print the rate over the run; write it from its base each time (`base_lr * factor`), or set it back.
    Example
        step 399, rank 0: the rate of SGD fell from 8 to 2.1e-06, and was below a thousandth of its peak in 310 of 400
        updates (since step 90), written at train.py:81; expected a rate that lasts the run. Write it from its base.
    """

    needs: ClassVar[tuple[type[FadedRate]]] = (FadedRate,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "write the rate from its base in each update: group['lr'] = base_lr * factor",
        "or set it back after optimizer.step()",
    )
    proved_by: ClassVar[str] = "optimizer/cut_verses"

    share: float = 0.3  # of all updates (ours: decays to nothing at the end of a run take a tenth of it)
    updates: int = 50  # of the run at least (ours)
    falls: int = 5  # of the rate before it was next to nothing: a rate that is set low once is meant (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge the rates when the run is over."""
        for fact in window.new(FadedRate):
            long = fact.updates >= self.updates and fact.faded >= self.share * fact.updates
            if not (long and fact.falls >= self.falls):
                continue
            where = f", written at {file_line(fact.written)}" if fact.written else ""
            yield self.finding(
                window,
                "warning",
                f"the rate of {fact.kind} fell from {float(fact.peak):.3g} to {float(fact.rate):.3g}, and was below a "
                f"thousandth of its peak in {fact.faded} of {fact.updates} updates (since step {fact.since}){where}; "
                "expected a rate that lasts the run. Write it from its base.",
                ref=fact.ref,
                place=Place(frame=fact.written or fact.frame),
                faded=fact.faded,
                updates=fact.updates,
            )
