"""Can the scores of a cross-entropy become large enough to tell the classes apart?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.loss_calls import by_line
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScoresBounded(Check, frozen=True):
    """Cosines divided by a temperature so high that the softmax of them stays nearly even.

    What it catches
        A temperature of 100 where 0.01 or a factor of 100 was meant, or a scale that multiplies where it should
        divide, in a contrastive loss or a classifier of cosines.
    Why it matters
        The loss stays near log N whatever is learned, and the gradients are as small as the factor.
    How it decides
        In `calls` inspected calls of one line the input of cross_entropy is a product of two matrices whose rows have a
        length of 1, times one constant. A cosine lies in -1..1, so for a factor of s the loss is at least
        log(1 + (N - 1) exp(-2 s)). A warning where s is at most `factor` and that is `floor` of log N or more.
        Temperatures of 0.5 and 1 are in use for many negatives; a factor that is learned is not judged.
    What to do
        Divide by a temperature of 0.05 to 0.5.
    Example
        step 0, rank 0: cross_entropy (pairs.py:31) is given cosines times 0.01, in 3 calls, so the loss of 32 classes
        cannot fall below 3.446, and log 32 = 3.466 is known without learning; expected scores of 2 to 20. Divide by a
        temperature below 1.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    kind: ClassVar[str] = "loss_misuse"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = ("divide the cosines by a temperature of 0.05 to 0.5",)
    proved_by: ClassVar[str] = "model/gull_calls"

    calls: int = 3
    """Calls of the same line that must agree (ours, as for losses fed with probabilities)."""
    factor: float = 0.4
    """Of the cosines (ours: a temperature of 2.5)."""
    floor: float = 0.8
    """Of log N that the loss cannot fall below (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line that calls a cross-entropy."""
        memory = window.memory(self)
        for key, seen in by_line(window).items():
            if key not in memory and len(seen) >= self.calls and all(map(self.even, seen)):
                memory[key] = True
                yield self.describe(window, seen)

    def even(self, call: LossCall) -> bool:
        """Whether the best softmax is nearly the even one."""
        known = call.score_limit is not None and call.score_limit <= self.factor
        return known and (call.classes or 0) > 2 and least(call) >= self.floor * math.log(call.classes or 1)

    def describe(self, window: Window, seen: list[LossCall]) -> Finding:
        """Build the finding with the floor and what it is without learning."""
        call = seen[0]
        return self.finding(
            window,
            "warning",
            f"cross_entropy{spot(call.frame)} is given cosines times {call.score_limit:.3g}, in "
            f"{counted(len(seen), 'call')}, so the loss of {call.classes} classes cannot fall below {least(call):.4g}, "
            f"and log {call.classes} = {math.log(call.classes or 1):.4g} is known without learning; expected scores of "
            "2 to 20. Divide by a temperature below 1.",
            ref=call.ref,
            place=Place(module=call.module, frame=call.frame),
            factor=call.score_limit or 0.0,
            least=least(call),
        )


def least(call: LossCall) -> float:
    """The cross-entropy where the cosine of the right class is 1 and all others are -1."""
    return math.log1p(((call.classes or 2) - 1) * math.exp(-2 * (call.score_limit or 0.0)))
