"""Is a target network ever written?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.stale_copy import StaleCopy, UsedUp
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

ASK = "Ask for a multiple that the counter meets."
KEEP = "Make it a list."
REACH = "If it makes targets, see why that line has no effect; if it is to stay as it began, nothing."


class CopyStale(Check, frozen=True):
    """A copy of the trained model makes targets, and the line that would write it is never reached.

    What it catches
        `if (step + 1) % 500 == 0:` before `target.load_state_dict(...)`, with a counter that goes up by four; an update
        that hangs on a flag or a count that never comes.
    Why it matters
        The targets are those of the untrained network for ever. The loss falls all the same.
    How it decides
        A model with the parameters of a trained one, near it at the start, in no optimizer and without gradients, is
        called without a graph. The file has a line that copies weights into it, in a loop, a branch or a function that
        a loop calls. In `looks` inspected steps the copy is bit for bit what it was while the other moved; and the
        condition over the line asks whether a counter of `range` is a multiple that none of its values can be, or
        12,000 updates have passed. A reference that no line writes (a teacher, the start of a preference tuning) is
        left alone. A copy that is evaluated and stands is told, too, where the program keeps an iterator (`filter`, a
        generator of parameters) that one loop uses up before the one that would write the copy: in the same scope or
        the same object, in no branch of its own, or in a method that is called again. One of the parameters that an
        optimizer is given is of no copy.
    What to do
        Count what is really counted: updates, or `step % every < step_size`.
    Example
        step 2, rank 0: QNetwork (train.py:58) is called without a graph and has not moved in 2 updates, after which
        the trained model is 0.021 of its norm away; `(step + 1) % 500 == 0` never holds for a counter that goes up by
        4 from 0 (train.py:71), so it is never copied; expected a copy that follows. Ask for a multiple that the counter
        meets.
    """

    needs: ClassVar[tuple[type[StaleCopy]]] = (StaleCopy,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "count updates, or ask for a multiple that the counter meets: step % every < step_size",
        "print once when the target network is copied",
    )
    proved_by: ClassVar[str] = "optimizer/ferry_prices"

    looks: int = 3
    """Inspected steps (ours; the observer counts them)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each line that would copy."""
        for fact in window.new(StaleCopy):
            if fact.spent is not None:
                yield self.unwritten(window, fact, fact.spent)
                continue
            line = file_line(fact.frame) if fact.frame is not None else "a line of the loop"
            why = (
                f"{fact.never} ({line}), so it is never copied"
                if fact.never
                else f"{line}, which would copy, was not reached with any effect"
            )
            yield self.finding(
                window,
                "warning",
                f"{fact.module}{spot(fact.called)} is called without a graph and has not moved in {fact.updates} "
                f"updates, after which the trained model is {float(fact.apart):.2g} of its norm away; {why}; "
                f"expected a copy that follows. {ASK if fact.never else REACH}",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.called),
                remedies=() if fact.never else (REACH,),
                confidence=0.95 if fact.never else self.confidence,
                moved=float(fact.apart),
            )

    def unwritten(self, window: Window, fact: StaleCopy, spent: UsedUp) -> Finding:
        """Build the finding of a copy whose loop goes through an iterator that is used up."""
        after = "its next turn" if spent.used_up == spent.empty else f"the one at {file_line(spent.empty)}"
        return self.finding(
            window,
            "warning",
            f"{fact.module}{spot(fact.called)} is evaluated and has not moved in {fact.updates} updates, after which "
            f"the trained model is {float(fact.apart):.2g} of its norm away; `{spent.name}` ({file_line(fact.frame)}) "
            f"can be gone through once, the loop at {file_line(spent.used_up)} uses it up and {after}, which "
            f"would write the copy, goes through nothing; expected a copy that follows. {KEEP}",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=spent.empty),
            remedies=("make it a list where it is kept: list(...)",),
            confidence=0.97,  # before the copy's statistics, which follow from it
            moved=float(fact.apart),
        )
