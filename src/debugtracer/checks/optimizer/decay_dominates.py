"""Does weight decay leave the loss anything to say?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.decay_share import DecayShare
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DecayDominates(Check, frozen=True):
    """From the first update on weight decay is far larger than the gradient of the loss.

    What it catches
        `weight_decay=0.5` where 5e-4 was meant; the decay of AdamW handed to Adam, which adds it to the gradient.
    Why it matters
        The update follows the decay: the weights go to 0 and the loss is hardly listened to.
    How it decides
        In each of the first three updates the norm of `weight_decay * weight` is at least ten times that of the
        gradient, over all parameters that decay; by then no loss has converged. With SGD only where a thousand updates
        would take a weight to below half (rate times decay above 7e-4). A decoupled decay (AdamW) does not meet the
        gradient: there, rate times decay above 0.02, which halves a weight in 35 updates.
    What to do
        Divide it by a hundred; leave norms and biases out.
    Example
        step 2, rank 0: the weight decay of Adam (main.py:327), 0.5, adds 4.1 to a gradient of norm 0.06 in each of the
        first 3 updates; expected less than the gradient. Divide it by 100.
    """

    needs: ClassVar[tuple[type[DecayShare]]] = (DecayShare,)
    kind: ClassVar[str] = "weight_decay_too_high"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "divide weight_decay by 100 (5e-4 is usual with SGD and Adam, 0.01 to 0.1 with AdamW)",
        "use AdamW, whose decay does not go through the moments",
    )
    proved_by: ClassVar[str] = "optimizer/reservoir_inflow"

    times: float = 10.0  # the gradient (ours)
    looks: int = 3  # updates running (ours)
    shrink: float = 7e-4  # rate times decay: a half in a thousand updates (ours)
    melt: float = 0.02  # rate times decay of a decoupled one: a half in 35 updates (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the updates in which it dominates; said once an optimizer."""
        memory = window.memory(self)
        for fact in window.new(DecayShare):
            memory[fact.optimizer] = memory.get(fact.optimizer, 0) + self.dominates(fact)
            if memory[fact.optimizer] != self.looks or fact.number != self.looks - 1:
                continue
            of = f"the weight decay of {fact.kind}{spot(fact.frame)}, {float(fact.decay):.3g},"
            said = (
                f"{of} takes {100 * float(fact.lr) * float(fact.decay):.2g} % off each weight in each of the first "
                f"{self.looks} updates; expected less than 0.1 %"
                if fact.decoupled
                else f"{of} adds {float(fact.decay_l2):.2g} to a gradient of norm {float(fact.grad_l2):.2g} in each of "
                f"the first {self.looks} updates; expected less than the gradient"
            )
            yield self.finding(
                window,
                "warning",
                f"{said}. Divide it by 100.",
                ref=fact.ref,
                place=Place(frame=fact.decay_frame or fact.frame, argument="weight_decay"),
                decay=float(fact.decay_l2),
                grad=float(fact.grad_l2),
            )

    def dominates(self, fact: DecayShare) -> bool:
        """Whether the decay is what moves the weights."""
        per_update = float(fact.lr) * float(fact.decay)
        if fact.decoupled:
            return per_update > self.melt
        large = float(fact.decay_l2) >= self.times * float(fact.grad_l2) > 0
        return large and (fact.adaptive or per_update > self.shrink)
