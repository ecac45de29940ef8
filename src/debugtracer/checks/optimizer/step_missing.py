"""Is every optimizer for which gradients are made stepped?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.order import NoStep
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StepMissing(Check, frozen=True):
    """Gradients are made for an optimizer again and again and it never steps.

    What it catches
        A forgotten `optimizer.step()`, a `continue` before it, one of two optimizers that is never stepped.
    Why it matters
        The weights stay what they were; the loss only shows the noise of the batches.
    How it decides
        50 backward calls wrote its gradients (or the run ended), it has never stepped, no other optimizer that steps
        holds its parameters, their values stand, and `zero_grad` threw such gradients away at least twice: that is no
        accumulation. Without a `zero_grad` it may still accumulate; then it is told at the end of the run, from 50 on.
        A loop that writes the weights itself, and an optimizer inside another one, change them: nothing is said.
    What to do
        Call `optimizer.step()` after the backward.
    Example
        step 0, rank 0: 50 backward calls (train.py:31) made gradients for Adam (train.py:22), 49 times they were thrown
        away by zero_grad, and it has never stepped; expected one step per update. Call step() after backward.
    """

    needs: ClassVar[tuple[type[NoStep]]] = (NoStep,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "step_missing"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "call optimizer.step() after the backward",
        "look for a continue or a condition that is never true before it",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/encoder_and_ranker"

    # backward calls without a step (ours: more than most accumulate); fewer are told at the end if zero_grad came
    # between
    backwards: int = 50
    thrown: int = 2  # zero_grad calls between them (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer."""
        seen = {fact.optimizer: fact for fact in (window.seen(NoStep) if window.ended else window.new(NoStep))}
        for fact in seen.values():
            sure = fact.zeroed >= self.thrown and (window.ended or fact.backwards >= self.backwards)
            if sure or (window.ended and fact.backwards >= self.backwards):
                yield self.finding(
                    window,
                    "error",
                    f"{fact.backwards} backward calls{spot(fact.backward_frame)} made "
                    f"gradients for {fact.kind}{spot(fact.frame)}, {fact.zeroed} times "
                    "they were thrown away by zero_grad, and it has never "
                    "stepped; expected one step per update. Call step() after backward.",
                    ref=fact.ref,
                    place=Place(frame=fact.backward_frame or fact.frame),
                    backwards=fact.backwards,
                    zeroed=fact.zeroed,
                )
