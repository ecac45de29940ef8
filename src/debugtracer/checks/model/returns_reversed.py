"""Do the returns belong to the steps that earned them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.reversed_returns import ReversedReturns
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ReturnsReversed(Check, frozen=True):
    """Returns summed up from the last step on stand in that order beside log-probabilities from the first step on.

    What it catches
        `for reward in reversed(rewards): ...; returns.append(total)` without turning the list round.
    Why it matters
        The first action gets the return of the last one: the policy learns from other steps than its own, or nothing.
    How it decides
        A tensor is made of a list to which a loop over a reversed sequence appends a sum that it carries along; nothing
        puts at its begin or turns it round, in the source or in torch. In an inspected step its first number is
        multiplied with what the model computed first, the last with what it computed last (autograd counts the calls).
    What to do
        `returns.insert(0, total)`, `returns.appendleft(total)` of a deque, or `returns.reverse()` after the loop.
    Example
        step 0, rank 0: the 30 returns appended at train.py:41 stand from the last step to the first, and the product
        (train.py:53) pairs the first of them with the first step; expected the return of each step. Turn the list
        round.
    """

    needs: ClassVar[tuple[type[ReversedReturns]]] = (ReversedReturns,)
    kind: ClassVar[str] = "rollout_mismatch"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "turn the list round after the loop: returns.reverse()",
        "or put each at the begin: returns.insert(0, total)",
    )
    proved_by: ClassVar[str] = "model/beach_kites"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each list."""
        memory = window.memory(self)
        for fact in window.new(ReversedReturns):
            if fact.frame in memory:
                continue
            memory[fact.frame] = True
            yield self.finding(
                window,
                "warning",
                f"the {fact.steps} returns appended at {file_line(fact.frame)} stand from the last step to the first, "
                f"and the product{spot(fact.loss_frame)} pairs the first of them with the first step; expected the "
                "return of each step. Turn the list round.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
                steps=fact.steps,
            )
