"""Does the horizon of a schedule fit the run?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import Schedule
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

DECAYS = ("StepLR", "MultiStepLR", "ExponentialLR", "MultiplicativeLR")
SIZED = ("total_steps", "T_max", "total_iters", "total_size")


class SchedBoundary(Check, frozen=True):
    """A schedule is sized in another unit than the one in which it is stepped, or too short for the run.

    What it catches
        `OneCycleLR(total_steps=epochs * len(loader))` stepped once per epoch; `CosineAnnealingLR(T_max=epochs)` or
        `ExponentialLR(0.9)` or `MultiStepLR(milestones=[30, 60])` in epochs, stepped once per batch; a one-cycle
        schedule that is stepped beyond its end.
    Why it matters
        The rate stays where it began, swings up and down within an epoch, or is gone after a small part of the run. A
        one-cycle schedule raises.
    How it decides
        Too slow: it is stepped every 5 updates or less often, and its horizon is the number of updates of the whole
        run, or more than 2000. Too fast: it is stepped each update and T_max is at most half a pass of the loader and
        was passed, or is as many as the run has epochs (those of a warm-up before it aside) and was passed three times;
        or a decaying rate has been below 1e-4 of its peak for two thirds of all updates, or for 20 and has come below
        1e-7 of it (an update so much smaller than a good one is rounded away in float32); or the last milestone was
        passed in the first tenth of the run, and the rate is below a tenth of its peak. Beyond its end: torch refused
        the call.
    What to do
        Size the schedule in the unit of `scheduler.step()`: `epochs * len(loader)` if it is called per batch, `epochs`
        if it is called per epoch.
    Example
        step 239, rank 0: OneCycleLR (train.py:31) is made for 240 steps (total_steps) and was stepped 6 times in 240
        updates; expected one step per update, or total_steps in epochs. Move scheduler.step() into the loop over
        batches.
    """

    needs: ClassVar[tuple[type[Schedule]]] = (Schedule,)
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "size the schedule in the unit in which scheduler.step() is called: epochs * len(loader) per batch, epochs "
            "per epoch"
        ),
        "with accumulation: divide by the number of microbatches of an update",
    )
    proved_by: ClassVar[str] = "optimizer/one_cycle_slow"

    many: int = 2000  # no run has more epochs than that (ours)
    apart: float = 5.0  # updates per call from which it is stepped per epoch (ours)
    lost: float = 1e-7  # share of its peak: float32 rounds an update away that is so much smaller than a good one
    stands: int = 20  # updates below 1e-4 of the peak that make up such a fall at least (ours)
    early: float = 0.1  # share of the run in which no decay is over, nor of its peak left (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one warning per scheduler whose horizon does not fit."""
        memory = window.memory(self)
        for fact in window.new(Schedule):
            said = self.misfit(fact)
            if said and not memory.get(fact.scheduler):
                memory[fact.scheduler] = True
                frames = (fact.frame, fact.step_frame)
                # epochs were meant, by a count or a factor for each: the call stands in the wrong loop
                called = (fact.kind in DECAYS or self.swings(fact)) and fact.step_frame is not None
                first, second = frames[::-1] if called else frames
                yield self.finding(
                    window,
                    "warning",
                    f"{fact.kind}{spot(fact.frame)} {said}",
                    ref=fact.ref,
                    place=Place(frame=first, symptom_frame=second),
                    calls=fact.calls,
                    updates=fact.updates,
                    horizon=fact.horizon or 0,
                )

    def misfit(self, fact: Schedule) -> str:
        """What does not fit; nothing if all does."""
        made = f"is made for {fact.horizon} steps ({fact.horizon_word})"
        if fact.exhausted:
            return (
                f"{made} and is stepped once more; expected no step after the last. Size it for all updates of the run."
            )
        if (
            fact.horizon is not None
            and fact.calls >= 2
            and fact.updates >= self.apart * fact.calls
            and fact.horizon_word in SIZED
        ):
            pace = fact.updates / fact.calls
            whole = fact.ended and abs(fact.horizon - fact.updates) <= pace + 1 and fact.calls <= fact.horizon / 4
            if whole or fact.horizon > self.many:
                return (
                    f"{made} and was stepped {fact.calls} times in {fact.updates} updates; expected one step per "
                    f"update, or {fact.horizon_word} in epochs. "
                    "Move scheduler.step() into the loop over batches."
                )
        if self.swings(fact):
            return (
                f"{made}, as many as the run has epochs, and was stepped {fact.calls} times, so the rate swung up "
                "again; expected T_max in batches. Use epochs * len(loader), or step it once per epoch."
            )
        if fact.updates < 1 or fact.calls < 0.9 * fact.updates:
            return ""
        if (
            fact.kind == "CosineAnnealingLR"
            and fact.horizon
            and fact.loader
            and fact.horizon <= fact.loader / 2
            and fact.last_epoch > 1.25 * fact.horizon
        ):
            return (
                f"{made}, is stepped once per batch and has passed them within an epoch of {fact.loader} batches, so "
                "the rate swings up again; expected "
                f"T_max in batches. Use epochs * len(loader), or step it once per epoch."
            )
        return self.gone(fact)

    def swings(self, fact: Schedule) -> bool:
        """Whether a cosine is sized by the epochs of the run and stepped in each batch: several times up and down."""
        if fact.kind != "CosineAnnealingLR" or not (fact.ended and fact.horizon and fact.loader):
            return False
        epochs = fact.updates / fact.loader
        stepped = fact.calls / fact.loader  # a warm-up before it takes epochs of its own
        near = any(abs(e - fact.horizon) <= max(1.5, self.early * fact.horizon) for e in (epochs, stepped))
        return near and epochs >= 3 and fact.last_epoch >= 3 * fact.horizon and fact.calls >= 3 * epochs

    def gone(self, fact: Schedule) -> str:
        """A decay that is over long before the run."""
        decays = fact.kind in DECAYS or fact.kind == "ReduceLROnPlateau"
        over = fact.horizon if fact.kind == "MultiStepLR" and fact.horizon_word == "milestones" else None
        if (
            fact.ended
            and over
            and over <= self.early * fact.updates
            and fact.updates >= over + 100
            and fact.calls >= fact.updates
            and float(fact.rate) <= self.early * float(fact.peak)
        ):
            return (
                f"is stepped once per batch and has passed its last milestone after {over} of {fact.updates} updates "
                f"(its rate is {float(fact.rate):.2g} since, its peak was {float(fact.peak):.2g}); expected milestones "
                "in batches. Step it once per epoch."
            )
        if decays and fact.fallen_at is not None and self.is_lost(fact, fact.fallen_at):
            return (
                f"is stepped once per batch and its rate fell below 1e-4 of its peak after {fact.fallen_at} of "
                f"{fact.updates} updates (now "
                f"{float(fact.rate):.2g}); expected a decay that lasts the run. Step it once per epoch."
            )
        return ""

    def is_lost(self, fact: Schedule, fallen_at: int) -> bool:
        """Whether a rate that has fallen stays low for two thirds of the run, or went on to where no weight moves."""
        share = float(fact.rate) / float(fact.peak)
        long = fact.updates >= max(3 * fallen_at, fallen_at + 50) and share < 1e-3
        return long or (share < self.lost and fact.updates >= fallen_at + self.stands)
