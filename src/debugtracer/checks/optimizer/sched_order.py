"""Is each scheduler stepped where and as often as its optimizer is?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import Schedule
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import UNTRAINED, Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SchedOrder(Check, frozen=True):
    """A scheduler is stepped before its optimizer, twice for one update, once per microbatch, or for an optimizer that
    never steps.

    What it catches
        `scheduler.step()` above `optimizer.step()`, one in the loop and one at the end of the epoch, one per microbatch
        of an accumulation, a scheduler built for an optimizer that was replaced later.
    Why it matters
        The first rate is skipped, the schedule runs several times too fast, or it has no effect at all.
    How it decides
        Before: the line of the loop that steps it ran before the first update (once; a resume that winds a scheduler
        forward does so elsewhere). Twice: two lines of the program step it between two updates, in at least two of
        them. Microbatches: between two updates the same line stepped it as often as backward was called, in at least
        two of them. No effect: its optimizer, which holds parameters of the model, has never stepped while others made
        20 updates.
    What to do
        Call `scheduler.step()` once, after `optimizer.step()`; build it for the optimizer that steps.
    Example
        step 1, rank 0: StepLR is stepped (train.py:25) before the first step of its optimizer, so the first rate of the
        schedule is skipped; expected optimizer.step() first. Move it below optimizer.step().
    """

    needs: ClassVar[tuple[type[Schedule]]] = (Schedule,)
    kind: ClassVar[str] = "scheduler_misuse"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "call scheduler.step() once per update (or once per epoch, if its arguments are epochs), after "
            "optimizer.step()"
        ),
        "build the scheduler for the optimizer whose step() the loop calls",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/windowed_updates"

    repeats: int = 2  # updates in which it happened (ours: torch itself warns once)
    others: int = 20  # updates of other optimizers (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The gravest of the four; once for each line, of which a loop may build a scheduler in every epoch."""
        told = window.memory(self)
        for finding in self.misplaced(window):
            asked = finding.place.frame, finding.message.rpartition("; ")[2]
            if asked not in told:
                told[asked] = True
                yield finding

    def misplaced(self, window: Window) -> Iterator[Finding]:
        """Describe each scheduler that is stepped in the wrong place, or for nobody."""
        for fact in window.new(Schedule):
            if fact.calls >= 2 and not fact.updates and fact.other_updates >= self.others and fact.known:
                said = (
                    f"was stepped {fact.calls} times for an optimizer that has never stepped while others made "
                    f"{fact.other_updates} updates"
                )
                yield self.describe(
                    window, fact, fact.frame, said, "the optimizer that steps", "Build it for that one."
                )
            elif fact.micro >= self.repeats:
                said = f"is stepped{spot(fact.step_frame)} {fact.per_update} times per update, once for each backward"
                yield self.describe(
                    window, fact, fact.step_frame, said, "once per update", "Step it where the optimizer steps."
                )
            elif fact.doubled >= self.repeats:
                said = (
                    f"is stepped a second time{spot(fact.doubled_frame)} before the next update, seen {fact.doubled} "
                    "times"
                )
                yield self.describe(
                    window,
                    fact,
                    fact.doubled_frame,
                    said,
                    "once per update or once per epoch",
                    "Remove one of the two calls.",
                )
            elif fact.early == 1 and fact.early_again >= 1 and fact.updates and fact.kind != "ReduceLROnPlateau":
                said = (
                    f"is stepped{spot(fact.early_frame)} before the first step of its optimizer, so the first rate of "
                    "the schedule is skipped"
                )
                early = self.describe(
                    window, fact, fact.early_frame, said, "optimizer.step() first", "Move it below optimizer.step()."
                )
                # what one rate that was skipped does is no reason for a loss that another rate would lower
                yield msgspec.structs.replace(early, evidence=early.evidence | {UNTRAINED: 1.0})

    def describe(
        self, window: Window, fact: Schedule, frame: Frame | None, said: str, expected: str, do: str
    ) -> Finding:
        """Build the warning about one scheduler and line."""
        return self.finding(
            window,
            "warning",
            f"{fact.kind} {said}; expected {expected}. {do}",
            ref=fact.ref,
            place=Place(frame=frame or fact.frame),
            calls=fact.calls,
            updates=fact.updates,
        )
