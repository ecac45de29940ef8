"""Is the learning rate above 0?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import Rate, Schedule
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REPEATS = 2  # updates before which a scheduler was stepped too often (ours: as optimizer/sched-order has it)
ONCE = "call scheduler.step() once per update, beside optimizer.step()"
EACH = (
    "step the scheduler after each update if its lengths are updates (Lightning: {'scheduler': ..., 'interval': "
    "'step'}); if they are epochs, begin the warm-up above 0: (epoch + 1) / warmup"
)
KEPT = "keep the fraction within its range, min(1.0, x), or end the schedule with the run"


class LrZero(Check, frozen=True):
    """Every group of an optimizer has a learning rate of 0 for many updates, or a negative one.

    What it catches
        A warm-up that never leaves 0 (integer division, a warm-up longer than the run, a step counter that stands), a
        schedule that has run out while training goes on, a linear decay that goes below 0.
    Why it matters
        With 0 nothing is learned, and the loss only shows the noise of the batches. A negative rate climbs the loss.
    How it decides
        The rate of all groups is exactly 0 in 20 updates running; a warm-up starts with 0 for one update. One group at
        0 is a way to freeze it and is no fault. A negative rate is told at once. Of a scheduler that was stepped
        several times per update the call of step() is the line, of one that begins at 0 and was not stepped in these
        updates that which builds it, else what computes the rate.
    What to do
        Print the factor of the schedule for the first and the last step of the run.
    Example
        step 0, rank 0: the learning rate of AdamW is 0 in 20 updates running (LambdaLR, train.py:33), the factor comes
        from train.py:23; expected a rate above 0. Print the factor over the steps of the run.
    """

    needs: ClassVar[tuple[type[Rate]]] = (Rate,)
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "print the factor of the schedule for the steps of the run: is a true division meant, does the warm-up "
            "fit, does it end at the last step"
        ),
        "size the schedule in the unit in which scheduler.step() is called: updates or epochs",
    )
    proved_by: ClassVar[str] = "optimizer/decay_to_nothing"

    updates: int = 20  # running with a rate of 0 (ours): no warm-up stands at 0 for so long

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, at the first of these updates."""
        for fact in window.new(Rate):
            low, high = float(fact.low), float(fact.high)
            if low < 0:
                yield self.describe(window, fact, f"is {low:.3g}, so updates climb the loss", "")
            elif high == 0 and fact.same >= self.updates:
                yield self.describe(window, fact, "is 0", f" in {fact.same} updates running")

    def describe(self, window: Window, fact: Rate, what: str, long: str) -> Finding:
        """Build the finding with the line that sets the rate: the call too many of a scheduler that has run through its
        end, the user's function, the scheduler, else the optimizer."""
        by = (
            f" ({fact.scheduler}{f', {file_line(fact.scheduler_frame)}' if fact.scheduler_frame else ''})"
            if fact.scheduler
            else ""
        )
        if fact.begun_step and not fact.scheduler:
            by = " (written by the loop itself)"
        at = fact.value_frame or fact.rate_frame
        factor = "the factor" if fact.value_frame is not None else "it"
        source = f", {factor} comes from {file_line(at)}" if at is not None else ""
        end = fact.fraction_frame
        if end is not None:
            source += f" by a fraction that nothing keeps below 1 ({file_line(end)})"
        often = stepped_often(window, fact)
        if often is not None:
            source += f"; it is stepped {times(often)}, expected once per update"
        still = not fact.begun_step and bool(fact.scheduler) and fact.calls == 0 and not float(fact.high)
        if still:
            source += "; it begins at 0 and was not stepped in them, as where it is stepped once an epoch"
        call = None if often is None else often.step_frame if often.micro >= REPEATS else often.doubled_frame
        return self.finding(
            window,
            "error",
            f"the learning rate of {fact.kind} {what}{long}{by}{source}; expected a rate above 0. "
            + ("Step it after each update." if still else "Print the factor over the steps of the run."),
            ref=msgspec.structs.replace(fact.ref, iteration=fact.begun, step=fact.begun_step),
            place=Place(
                frame=call
                or end
                or (fact.scheduler_frame if still else None)
                or fact.value_frame
                or fact.scheduler_frame
                or fact.rate_frame
                or fact.frame
            ),
            kind=self.kind if fact.scheduler or fact.begun_step else "lr_zero",  # a rate that was another is a schedule
            remedies=(ONCE, *self.remedies)
            if call is not None
            else (EACH, *self.remedies)
            if still
            else ()
            if end is None
            else (KEPT, *self.remedies),
            lr=float(fact.low),
            updates=fact.same,
        )


def stepped_often(window: Window, fact: Rate) -> Schedule | None:
    """What is known of the scheduler of a rate that has left 0 and come to it again, where it was stepped more often
    than its optimizer."""
    return next(
        (
            one
            for one in reversed(window.seen(Schedule))
            if fact.begun_step and one.kind == fact.scheduler and one.frame == fact.scheduler_frame
            and max(one.micro, one.doubled) >= REPEATS
        ),
        None,
    )  # fmt: skip


def times(often: Schedule) -> str:
    """Say what calls there are too many."""
    if often.micro >= REPEATS:
        return f"{often.per_update} times per update{spot(often.step_frame)}, once for each backward"
    return f"a second time{spot(often.doubled_frame)} before the next update"
