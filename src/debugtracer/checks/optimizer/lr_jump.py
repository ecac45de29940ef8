"""Does the learning rate stay within what the run has used so far?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LrJump(Check, frozen=True):
    """The learning rate rises far above all rates of the run in one update.

    What it catches
        A resumed run whose schedule starts anew, a rate set by hand with a wrong power of ten, two schedulers on one
        optimizer.
    Why it matters
        A loss spike some updates later has its cause here.
    How it decides
        The rate is more than 10 times the peak so far, one update after another, when at least 100 updates are done. A
        note: the jump may be meant.
    What to do
        Compare the rate before and after with the schedule you want.
    Example
        step 400, rank 0: the learning rate of SGD rises from 0.001 to 0.1 in one update, 100 times the peak of the 400
        updates before; expected a warm-up. Look at what sets it.
    """

    needs: ClassVar[tuple[type[Rate]]] = (Rate,)
    remedies: ClassVar[tuple[str, ...]] = (
        "look at what sets param_groups[...]['lr'] there",
        "after a resume: load the state of the scheduler too",
    )
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    proved_by: ClassVar[str] = "optimizer/second_stage"

    ratio: float = 10.0  # times the peak so far (ours)
    updates: int = 100  # before it (ours): a warm-up is over then

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a note at each jump of the rate."""
        for fact in window.new(Rate):
            high, peak = float(fact.high), float(fact.peak)
            if fact.number >= self.updates and peak > 0 and high > self.ratio * peak:
                before = f"{float(fact.before):.3g}" if fact.before is not None else "an unknown rate"
                yield self.finding(
                    window,
                    "note",
                    f"the learning rate of {fact.kind}{spot(fact.frame)} rises from {before} to {high:.3g} in one "
                    f"update, {high / peak:.3g} times the peak of "
                    f"the {fact.number} updates before; expected a warm-up. Look at what sets it.",
                    ref=fact.ref,
                    place=Place(frame=fact.scheduler_frame or fact.rate_frame or fact.frame),
                    lr=high,
                    peak=peak,
                )
