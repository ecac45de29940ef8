"""Is the learning rate a number?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RateUndefined(Check, frozen=True):
    """The learning rate is NaN, infinite or complex.

    What it catches
        A schedule that goes on behind its end: `(1 - step / total) ** 0.9` of a negative number is complex in Python
        and NaN in NumPy; a cosine or a root outside its domain, a division by a warm-up of 0 steps.
    Why it matters
        NaN makes every weight NaN in one update; of a complex rate the update dies with a message about `alpha` or
        `value`.
    How it decides
        The rate of a group as the optimizer holds it, when an update wrote non-finite weights or the program died.
    What to do
        End the schedule where the run ends, or clamp what it is computed from.
    Example
        step 100, rank 0: the learning rate of SGD (train.py:14) is complex, set by LambdaLR (train.py:15), after
        0.000158 one update before; expected a number above 0. Clamp what it is computed from, or end the schedule with
        the run.
    """

    needs: ClassVar[tuple[type[RateMoved]]] = (RateMoved,)
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "clamp what the rate is computed from: max(0.0, 1 - step / total) ** power",
        "size the schedule in the unit in which it is stepped (updates or epochs), to the end of the run",
    )
    proved_by: ClassVar[str] = "optimizer/harbour_pumps"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error for each optimizer whose rate is no number."""
        told = window.memory(self)
        for fact in window.new(RateMoved):
            if not fact.undefined or fact.key() in told:
                continue
            told[fact.key()] = True
            by = f", set by {fact.scheduler}{spot(fact.scheduler_frame)}" if fact.scheduler else spot(fact.written)
            yield self.finding(
                window,
                "error",
                f"the learning rate of {fact.kind}{spot(fact.frame)} is {fact.undefined}{by}, after "
                f"{float(fact.before):.3g} one update before; expected a number above 0. Clamp what it is computed "
                "from, or end the schedule with the run.",
                ref=fact.ref,
                place=Place(frame=fact.scheduler_frame or fact.written or fact.frame),
            )
