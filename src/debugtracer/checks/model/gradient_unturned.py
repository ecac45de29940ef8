"""Does a hand-written backward whose forward hands on its input do anything to the gradient?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.passed_gradient import PassedGradient
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class GradientUnturned(Check, frozen=True):
    """An autograd.Function of the program's hands on its input and its gradient: it reverses nothing.

    What it catches
        A gradient reversal without its minus, or whose backward returns the gradient as it came and leaves its
        coefficient out.
    Why it matters
        What lies before it is trained to help the branch that it was to work against: features that tell the domains
        apart in place of features that do not. Both losses fall and all looks well.
    How it decides
        Once, after the first backward, on the inputs of the first call in double precision: forward gives its input bit
        for bit, and backward gives one positive number times the gradient that comes in, whatever its size. A warning
        where a number that it is given has no effect on either; and where its input goes to another branch as well and
        that number is 1, or was 0 at first and would not turn the gradient with 1 in its place. A Function without any
        number that multiplies by 1 does nothing at all: a warning where there is another branch, else a note. Left
        alone: other factors (a gradient that is scaled), guards and limits, functions with a `symbolic`, and those that
        exchange gradients between ranks.
    What to do
        `return -ctx.alpha * grad_output, None`.
    Example
        step 0, rank 0: forward of Reverse (train.py:34) hands on its input, which another branch is given too, and
        backward gives 1 times the gradient that comes in: it works against nothing; expected a minus where a gradient
        is reversed. Return -alpha * grad_output.
    """

    needs: ClassVar[tuple[type[PassedGradient]]] = (PassedGradient,)
    kind: ClassVar[str] = "custom_backward_wrong"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "a reversed gradient has a minus: return -ctx.alpha * grad_output, None",
        "a Function that does nothing can go; to stop a gradient use x.detach()",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "model/foreign_harbours"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each function once."""
        told = window.memory(self)
        for fact in window.new(PassedGradient):
            one = float(fact.ratio) == 1.0
            idle = one and not fact.numbers
            turns = fact.branches and (idle or (fact.numbers > 0 and (one or fact.from_zero)))
            if (not turns and not fact.unused and not idle) or fact.function in told:
                continue
            told[fact.function] = True
            yield self.finding(
                window,
                "warning" if turns or fact.unused else "note",
                f"forward of {fact.function}{spot(fact.called)} hands on its input{elsewhere(fact)}, and backward "
                f"gives {float(fact.ratio):.3g} times the gradient that comes in{coefficient(fact)}: it works against "
                "nothing; expected a minus where a gradient is reversed. Return -alpha * grad_output.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.called),
                ratio=float(fact.ratio),
            )


def elsewhere(fact: PassedGradient) -> str:
    """Say where else its input goes."""
    return ", which another branch is given too" if fact.branches else ""


def coefficient(fact: PassedGradient) -> str:
    """What is known of the numbers that it is given."""
    if fact.unused:
        return ", whatever number it is given"
    return " where its number, 0 at first, is 1" if fact.from_zero else ""
