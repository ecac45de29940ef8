"""Does a number beside the layers have a best value?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.drifting_parameter import DriftingParameter
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ParameterDrift(Check, frozen=True):
    """The loss falls below zero because one number drifts on and on, and its gradient never shrinks.

    What it catches
        The weighting of tasks by their uncertainty with the wrong sign: exp(s) * loss + s has no least value, where
        exp(-s) * loss + s has one; a temperature or a scale whose penalty is added with the wrong sign.
    Why it matters
        The weights of the tasks go to 0: the loss falls evenly, and nothing is learnt.
    How it decides
        A trained parameter of few numbers that no layer of torch holds went `far` (16, so that exp of it is 9 million)
        in one direction over 8 looks or more, down a gradient that lost less than a tenth of its size in the second
        half of them. The loss is negative, and its fall in that half is what gradient times way adds up to, within
        `off`. A likelihood comes to rest: the gradient of its scale shrinks long before.
    What to do
        Turn the sign of the exponent, or of the term.
    Example
        step 500, rank 0: log_variance (train.py:22) (3 numbers) drifts from 0 to -51.4 and its gradient stays 1: the
        loss is -153, and 100 % of its fall is that drift; expected a parameter that comes to rest. Turn a sign: exp(-s)
        * loss + s has a least value, exp(s) * loss + s has none.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (DriftingParameter,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "loss_unbounded"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    family: ClassVar[str] = "loss"
    remedies: ClassVar[tuple[str, ...]] = (
        "turn the sign: the weight of a task is exp(-s) where s is added, or exp(s) where it is subtracted",
        "log the parameter: it must come to rest",
    )
    proved_by: ClassVar[str] = "optimizer/echo_soundings"

    off: float = 0.3  # share of the fall (ours: the layers learn, too)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each parameter once."""
        for fact in window.new(DriftingParameter):
            loss, fall, explained = float(fact.loss), float(fact.fall), float(fact.explained)
            if loss >= 0 or fall <= 0 or abs(explained - fall) > self.off * fall:
                continue
            numbers = f" ({fact.numbers} numbers)" if fact.numbers > 1 else ""
            yield self.finding(
                window,
                "warning",
                f"{fact.name or 'a parameter'}{spot(fact.frame)}{numbers} drifts from {float(fact.first):.3g} to "
                f"{float(fact.last):.3g} and its gradient stays {float(fact.gradient):.3g}: the loss is {loss:.4g}, "
                f"and {100 * explained / fall:.0f} % of its fall is that drift; expected a parameter that comes to "
                "rest. Turn a sign: exp(-s) * loss + s has a least value, exp(s) * loss + s has none.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                way=float(fact.last) - float(fact.first),
                loss=loss,
            )
