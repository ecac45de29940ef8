"""Does the model look at more than one position of its input?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PositionsIgnored(Check, frozen=True):
    """Only the first, or only the last, position of an input reaches the output.

    What it catches
        `output[:, 0]` of a recurrent network that reads from left to right, where `output[:, -1]` was meant; time and
        batch taken for each other; a mask or a slice that leaves one step.
    Why it matters
        The model sees a small part of each sample, learns what that part tells, and looks like a hard task.
    How it decides
        On a copy in evaluation mode, once: along one dimension of an input (of four positions at least) all positions
        but the first, or all but the last, are replaced by those of another sample, and the output is the same bit for
        bit, though it is not where the whole sample, or the one position, is another.
    What to do
        Look at the line named: it is the last one that was given something else and returned the same.
    Example
        step 0, rank 0: of the 28 positions of dimension 2 of the input of Net only position 0 reaches the output;
        expected all of them. Look at what train.py:33 takes.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    kind: ClassVar[str] = "input_ignored"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "take the last step of a network that reads from left to right: output[:, -1] (batch first) or output[-1]",
        "check which dimension is time and which is the batch (batch_first)",
    )
    proved_by: ClassVar[str] = "model/heart_rhythm"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial != "other_positions" or not fact.changed:
                continue
            line = file_line(fact.frame) if fact.frame is not None else "forward"
            yield self.finding(
                window,
                "warning",
                f"of the {fact.length} positions of dimension {fact.dim} of the input of {fact.root} only position "
                f"{fact.position} reaches the output; expected all of them. Look at what {line} takes.",
                ref=fact.ref,
                place=Place(frame=fact.frame, module=fact.module),
                positions=fact.length or 0,
            )
