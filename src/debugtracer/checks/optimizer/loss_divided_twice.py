"""Does the program divide a loss that a library divides, too?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_division import LossDivision
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LossDividedTwice(Check, frozen=True):
    """The losses of an accumulation are divided by the number of microbatches twice.

    What it catches
        `loss = loss / n` before `accelerator.backward(loss)`, or in a `training_step` of Lightning that accumulates:
        both divide by n themselves.
    Why it matters
        The gradient is an n-th of the mean: the same as a learning rate n times smaller for SGD, and weight decay and
        clipping mean something else for every optimizer.
    How it decides
        A library calls backward n times for one update, each of these losses was divided by n last, and every term of
        it was divided by n (or multiplied with 1/n) before, in `looks` inspected steps. A quotient of n terms, or of a
        sum over elements, may be their mean; two divisions of a loop of the program's own may be meant (tasks, ranks).
        Both are left alone.
    What to do
        Take the program's own division out.
    Example
        step 1, rank 0: accelerate calls backward (train.py:55) 8 times for an update, and each loss was divided by 8
        twice, so gradients are 0.125 of those of their mean, in 2 inspected steps; expected one division. Take the
        program's own out.
    """

    needs: ClassVar[tuple[type[LossDivision]]] = (LossDivision,)
    kind: ClassVar[str] = "accumulation_unscaled"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "take the program's own division out: the library divides each loss where it calls backward",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/quakes_by_eighths"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(LossDivision):
            seen = memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if seen != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.library} calls backward{spot(fact.frame)} {fact.backwards} times for an update, and each loss "
                f"was divided by {fact.backwards} twice, so gradients are {1 / fact.backwards:.3g} of those of their "
                f"mean, in {seen} inspected steps; expected one division. Take the program's own out.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                backwards=fact.backwards,
            )
