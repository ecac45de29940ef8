"""Does the output depend on the input?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class InputIgnored(Check, frozen=True):
    """The output is the same whatever comes in.

    What it catches
        Units that are all dead, a mask over everything, an argument that is never used.
    Why it matters
        The model can learn nothing but the mean of the targets.
    How it decides
        On a copy in evaluation mode the samples of the batch change places, and the output is the same bit for bit
        though the inputs differ. Models in which a weight starts at 0 (gates, heads) are left alone. It is a note: one
        look at the first step.
    What to do
        Follow the input through forward: masks, activations, detached branches.
    Example
        step 0, rank 0: Sequential gives the same output when the samples of the batch change places; expected other
        outputs for other inputs. Follow the input through forward.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    at_end: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "follow the input through forward: masks, dead activations, unused arguments",
    )
    proved_by: ClassVar[str] = "model/silent_units"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "any_input" and fact.changed:
                yield self.finding(
                    window,
                    "note",
                    f"{fact.root} gives the same output when the samples of the batch change places; expected other "
                    "outputs for other inputs. "
                    "Follow the input through forward.",
                    ref=fact.ref,
                    place=Place(module=fact.module),
                )
