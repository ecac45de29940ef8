"""Is any gradient ever other than 0?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.own_updates import OwnUpdates
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, Window


class GradientZero(Check, frozen=True):
    """The gradients are there, and each of them is exactly 0 in every step.

    What it catches
        Cross-entropy over a single score (0 whatever the score), an output multiplied by a mask of zeros, a clamp or
        ReLU that is shut for all data, a loss of constants.
    Why it matters
        The weights stay what they were, or move by weight decay alone; the loss shows the noise of the batches.
    How it decides
        The norm over all gradients was exactly 0 in 50 steps running since the run began, or in all of at least 8 when
        it ended, and parameters did have a gradient. One value other than 0 ends the question for the whole run.
        Cross-entropy over one class is an exact proof, an error; all else is a warning.
    What to do
        Follow the loss back from the line to what is multiplied by 0 or clamped.
    Example
        step 0, rank 0: every gradient was exactly 0 in 50 of 50 steps: cross_entropy (train.py:24) is over 1 class, so
        it is 0 whatever the score; expected a loss that depends on the weights. Use
        binary_cross_entropy_with_logits for one score, or two outputs.
    """

    needs: ClassVar[tuple[str | type, ...]] = (GRAD_L2, StepOrder, OwnUpdates, LossCall)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "for one score use binary_cross_entropy_with_logits with float targets, or give the model two outputs",
        "look for a mask of zeros, a clamp or a ReLU between the weights and the loss",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/churn_score"

    steps: int = 50  # running since the run began (ours)
    least: int = 8  # of a run that is over (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count zeros from the first step on, until one value is other than 0."""
        memory = window.memory(self)
        if memory.get("over"):
            return
        if GRAD_L2 in window.fresh:
            memory["zeros"] = memory.get("zeros", 0) + 1
            memory.setdefault("first", window.ref)
            memory["over"] = window.series[GRAD_L2][-1] != 0
        zeros = memory.get("zeros", 0)
        if memory.get("over") or zeros < (self.least if window.ended else self.steps) or not self.has_gradients(window):
            return
        memory["over"] = True
        yield self.describe(window, zeros)

    def has_gradients(self, window: Window) -> bool:
        """Whether parameters had gradients at all: a norm over none is 0 too."""
        orders = window.seen(StepOrder)
        return any(f.empty and f.grads for f in orders) if orders else window.last(OwnUpdates) is not None

    def describe(self, window: Window, zeros: int) -> Finding:
        """Build the finding, with the loss over one class as its proof."""
        single = next((c for c in window.seen(LossCall) if c.loss == "cross_entropy" and c.classes == 1), None)
        call = single or window.last(LossCall)
        frame = call.frame if call is not None else None
        if single is not None:
            why = (
                f": cross_entropy{spot(frame)} is over 1 class, so it is 0 whatever the score; expected a loss that "
                "depends on the weights. Use binary_cross_entropy_with_logits for one score, or two outputs."
            )
        else:
            loss = f", the loss is {call.loss}{spot(frame)}" if call is not None else ""
            why = (
                f"{loss}; expected some that are not. Look for a mask of zeros, a clamp or a ReLU between the weights "
                "and the loss."
            )
        return self.finding(
            window,
            "warning" if single is None else "error",
            f"every gradient was exactly 0 in {zeros} of {zeros} steps{why}",
            ref=window.memory(self)["first"],
            place=Place(frame=frame),
            kind="loss_misuse" if single is not None else None,
            exact=single is not None,
            steps=zeros,
        )
