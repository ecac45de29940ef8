"""Is a hand-written backward the derivative of its forward?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_derivative import FunctionDerivative
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MEANT = {
    "rows": "gives the derivative of its forward times a positive number of its own for each row",
    "bounded": "gives the derivative of its forward for small gradients only, and less than it for larger ones,",
    "steps": "gives another gradient than the derivative of its forward, which is in steps of another input,",
}
"""Differences that are made on purpose more often than not: centres divided by counts, clipping, learnt steps."""
CLOSER = ". Compare them with torch.autograd.gradcheck."


class WrongDerivative(Check, frozen=True):
    """The backward of an autograd.Function of the program's is not the derivative of its forward.

    What it catches
        A missing factor or term, a wrong sign, a mask the wrong way round, a gradient that is cut.
    Why it matters
        Training runs and even learns, more slowly or something else: all layers before the function follow a direction
        that is not that of the loss.
    How it decides
        Once, after the first backward, on the inputs of the first call in double precision: derivatives by differences
        against what backward gives, in three random directions, or element by element where the function works so.
        They must agree within 5 %. A function that passes its input on (a reversed or scaled gradient) or its gradient
        (a straight-through estimator) is left alone, and so is, element by element, where one of the two is 0 (a range
        that is left). A function in steps (rounding,
        a sign) has no derivative to compare: told only where its backward is 0 at every input tried, or 0 wherever the
        function rises over a wider distance and not 0 where it is flat. A note where the difference is one that is made
        on purpose as well: a positive number of its own for each row (a centre divided by how often its class came), a
        gradient that is cut off at a limit, the width of a quantiser's steps. A function that gives one number: a
        backward that gives the same whatever gradient comes in is told where another one than 1 came in (a weight of
        the term, a loss scale, a division for accumulation, which then have no effect).
    What to do
        Compare it with `torch.autograd.gradcheck` in float64; where autograd can derive the forward, drop the
        backward.
    Example
        step 0, rank 0: backward of ScaledSwish gives 0.5 times the derivative of its forward for input 0 (0.206
        against 0.412); expected the derivative. Compare them with torch.autograd.gradcheck.
    """

    needs: ClassVar[tuple[type[FunctionDerivative]]] = (FunctionDerivative,)
    kind: ClassVar[str] = "custom_backward_wrong"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "compare it with autograd: torch.autograd.gradcheck(Function.apply, inputs in float64)",
        "drop the hand-written backward if autograd can derive the forward",
    )
    proved_by: ClassVar[str] = "model/coded_sensors"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each function once, and say once what may be meant in it."""
        told = window.memory(self)
        for fact in window.new(FunctionDerivative):
            severity: Severity = "note" if fact.difference in MEANT else "warning"
            if fact.difference == "same" or (fact.function, severity) in told:
                continue
            told[fact.function, severity] = True
            yield self.finding(
                window,
                severity,
                f"backward of {fact.function} {said(fact)}",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                derivative=float(fact.derivative),
                backward=float(fact.backward),
            )


def said(fact: FunctionDerivative) -> str:
    """What was seen and expected, by kind of difference."""
    if fact.difference == "unscaled" and fact.came_in is not None:
        return (
            f"gives the same for input {fact.input} whatever gradient comes in, and {float(fact.came_in):.3g} came in "
            "(a factor after it has no effect); expected the gradient times that. Multiply by grad_output."
        )
    numbers = f"({float(fact.backward):.3g} against {float(fact.derivative):.3g})"
    if fact.difference in MEANT:
        return f"{MEANT[fact.difference]} for input {fact.input}; expected that only if it is meant{CLOSER}"
    if fact.difference == "reversed":
        return (
            f"is 0 for input {fact.input} in {100 * (1 - float(fact.backward)):.0f} % of the elements where forward "
            f"rises and not 0 where it is flat; expected the other way round{CLOSER}"
        )
    if fact.difference == "cut":
        return f"gives 0 for input {fact.input} where forward moves {numbers}; expected the derivative{CLOSER}"
    if fact.ratio is not None:
        return (
            f"gives {float(fact.ratio):.3g} times the derivative of its forward for input {fact.input} {numbers}; "
            f"expected the derivative{CLOSER}"
        )
    return f"is not the derivative of its forward for input {fact.input} {numbers}; expected the same{CLOSER}"
