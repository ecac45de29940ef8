"""Does an optimizer or a scheduler live as long as the training does?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.built_again import BuiltAgain as Rebuilt
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

FEW = 4  # updates (ours)


class BuiltAgain(Check, frozen=True):
    """An optimizer or a scheduler is built again and again while the same training goes on, and begins anew each time.

    What it catches
        `optimizer = Adam(model.parameters())` inside the function that makes a training step or an epoch;
        `scheduler = StepLR(optimizer, ...)` inside the loop over epochs.
    Why it matters
        The moments of an optimizer begin with nothing each time: Adam with one update makes a step of the full rate in
        the direction of the sign, momentum is none. A scheduler that is built anew never comes to where it moves the
        rate.
    How it decides
        The same line builds an optimizer of the same class over the same parameters with the same rate, at least four
        times (eight where it lives for at most four updates); twice the weights were bit for bit what the update before
        had left: nobody has put them back or drawn them anew; and it has moments. Where it lives longer than one pass
        over one data set, as where a task follows another, it is a note. A scheduler: four times over the same
        optimizer with the same rate after it, and none was stepped for half of what it is made for, or, where its class
        has no such number, more than once.
    What to do
        Build it once, before the loop.
    Example
        step 7, rank 0: Adam (train.py:12) was built 8 times over the same parameters, the last time after 1 update:
        its moments begin with nothing each time; expected one for the whole training. Build it once, before the loop.
    """

    needs: ClassVar[tuple[type[Rebuilt]]] = (Rebuilt,)
    kind: ClassVar[str] = "resume_state"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "build the optimizer once, before the loop, and hand it to the function that trains",
        "or give the new one the state of the old: new.load_state_dict(old.state_dict())",
    )
    proved_by: ClassVar[str] = "optimizer/cooper_barrels"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each line once."""
        for fact in window.new(Rebuilt):
            yield self.scheduler(window, fact) if fact.what == "scheduler" else self.optimizer(window, fact)

    def optimizer(self, window: Window, fact: Rebuilt) -> Finding:
        """Build the finding of moments that never live."""
        certain = fact.steps <= FEW
        return self.finding(
            window,
            "warning" if certain or fact.in_pass else "note",
            f"{fact.kind}{spot(fact.frame)} was built {fact.built} times over the same parameters, the last time after "
            f"{updates(fact.steps)}: its moments begin with nothing each time; expected one for the whole training. "
            "Build it once, before the loop.",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            confidence=0.9 if certain else 0.6 if fact.in_pass else 0.4,
            built=fact.built,
            steps=fact.steps,
        )

    def scheduler(self, window: Window, fact: Rebuilt) -> Finding:
        """Build the finding of a rate that is never moved."""
        made = f" of {fact.horizon} ({fact.horizon_word})" if fact.horizon is not None else ""
        calls = "1 call" if fact.calls == 1 else f"{fact.calls} calls"
        return self.finding(
            window,
            "warning",
            f"{fact.kind}{spot(fact.frame)} was built {fact.built} times over the same optimizer, each with a rate of "
            f"{fact.rate:.3g} after it, and lived for {calls} of step{made}: it begins anew each time; expected one "
            "for the whole training. Build it once, before the loop.",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            kind="scheduler_misuse",
            remedies=("build the scheduler once, before the loop, and step it there",),
            built=fact.built,
            calls=fact.calls,
        )


def updates(count: int) -> str:
    """Format a number of updates."""
    return "1 update" if count == 1 else f"{count} updates"
