"""Does a schedule ever move the rate?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import RateKept as KeptRate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RateKept(Check, frozen=True):
    """A schedule has left the learning rate where its warm-up begins for the whole run.

    What it catches
        A scheduler that is stepped with a constant instead of the epoch, a warm-up that is built and never stepped, a
        function of the step that is given something which never moves.
    Why it matters
        Nothing fails: the model trains at a hundredth of the rate that was meant, and the result looks undertrained.
    How it decides
        When the run is over: the parameter groups say that their schedule begins from another rate (`initial_lr`), all
        updates were made at one and the same rate, and that is at most a hundredth of it. Only where the loader was
        iterated three times or the scheduler was stepped three times: a warm-up by epochs has moved by then. Without a
        loader, after 200 updates.
    What to do
        Print the rate once per epoch; hand the scheduler the epoch (or step) that is over, and step it once in each.
    Example
        step 104, rank 0: all 105 updates of SGD (train.py:14) were made at the rate 1e-05, where its schedule begins
        from 0.05; expected a rate that moves. Step the scheduler with the epoch that is over.
    """

    needs: ClassVar[tuple[type[KeptRate]]] = (KeptRate,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "step the scheduler once per epoch (or update) and hand it the number of the one that is over",
        "print optimizer.param_groups[0]['lr'] in each epoch",
    )
    proved_by: ClassVar[str] = "optimizer/mill_vibration"

    low: float = 0.01  # of the rate that the schedule begins from (ours: warm-ups begin at 1e-2 to 1e-6 of it)
    times: int = 3  # passes or calls in which a warm-up has moved (ours)
    updates: int = 200  # where neither is known (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge a rate that never moved, when the run is over."""
        for fact in window.new(KeptRate):
            rate, built = float(fact.rate), float(fact.built)
            long = max(fact.passes, fact.calls) >= self.times or (not fact.passes and fact.updates >= self.updates)
            if not (long and 0 < rate <= self.low * built):
                continue
            of = f", set by {fact.scheduler}{spot(fact.scheduler_frame)}," if fact.scheduler else ""
            yield self.finding(
                window,
                "warning",
                f"all {fact.updates} updates of {fact.kind}{spot(fact.frame)} were made at the rate {rate:.3g}{of} "
                f"where its schedule begins from {built:.3g}; expected a rate that moves. Step the scheduler with the "
                "epoch that is over.",
                ref=fact.ref,
                place=Place(frame=fact.scheduler_frame or fact.frame),
                rate=rate,
                built=built,
                updates=fact.updates,
            )
