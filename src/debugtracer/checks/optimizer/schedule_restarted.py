"""Does the schedule of a resumed run go on where it was?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import RateHistory
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScheduleRestarted(Check, frozen=True):
    """A resumed run goes on with the optimizer's moments and begins its learning rate schedule anew.

    What it catches
        A step counter that is not restored, in a loop that computes the rate from it; the state of a scheduler that
        lies in no file.
    Why it matters
        The rate climbs back to its peak on a model that had nearly converged: the loss rises and takes a large part of
        the run to come down again, without an error.
    How it decides
        When the run is over: the state that was loaded into the optimizer had seen `updates` updates or more and came
        with a rate; the first update after it used less than `below` of the later peak, and that peak is `times` the
        loaded rate or more: a second warm-up.
    What to do
        Restore the step that the rate is computed from (or the scheduler's state) with the optimizer.
    Example
        step 39, rank 0: AdamW (train.py:31) was loaded (train.py:44) with a rate of 6e-05 after 2000 updates, began
        again at 1e-05 and rose to 0.001; expected a schedule that goes on. Restore the step it is computed from.
    """

    needs: ClassVar[tuple[type[RateHistory]]] = (RateHistory,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "resume_state"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "restore the counter that the learning rate is computed from beside the optimizer",
        "with a scheduler of torch: scheduler.load_state_dict(...)",
        "for a second warm-up that is meant: begin with an optimizer without the old moments",
    )
    proved_by: ClassVar[str] = "rollback/counted_from_zero"

    updates: int = 100  # that the loaded state has seen (ours: a schedule is under way)
    below: float = 0.34  # of the later peak at the first update (ours: a warm-up begins near 0)
    times: float = 3.0  # the loaded rate (ours, as for a jump of the rate)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each loaded optimizer when the run is over."""
        for fact in window.new(RateHistory):
            if not self.is_restart(fact):
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.kind}{spot(fact.frame)} was loaded{spot(fact.loaded_frame)} with a rate of "
                f"{float(fact.loaded or 0):.3g} after {fact.loaded_updates} updates, began again at "
                f"{float(fact.first or 0):.3g} and rose to {float(fact.peak):.3g}; expected a schedule that goes on. "
                "Restore the step it is computed from.",
                ref=fact.ref,
                place=Place(frame=fact.loaded_frame, symptom_frame=fact.rate_frame or fact.scheduler_frame),
                rate=float(fact.peak),
                loaded=float(fact.loaded or 0),
            )

    def is_restart(self, fact: RateHistory) -> bool:
        """Whether the rate began low and rose far above the one that was loaded."""
        if fact.loaded is None or fact.first is None or fact.loaded_updates < self.updates or fact.rises < 2:
            return False
        peak = float(fact.peak)
        return float(fact.first) < self.below * peak and peak >= self.times * float(fact.loaded) > 0
