"""Is an output squashed once alone?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.squashed_again import SquashedAgain
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SquashedTwice(Check, frozen=True):
    """A sigmoid or softmax is given what a sigmoid or softmax has given.

    What it catches
        A model that ends in `nn.Sigmoid` and a Dice, focal or other loss of one's own that applies the sigmoid, too;
        `softmax` in the forward and again in the loop.
    Why it matters
        A sigmoid of a probability lies between 0.5 and 0.73: no pixel can be said to be background, the loss has a
        floor, and every answer is above one half.
    How it decides
        In `looks` inspected steps autograd's graph says that the input of a sigmoid is the output of a sigmoid or
        softmax, or a view of it, or that of a softmax the output of a softmax over the same dimension. What is scaled
        or weighed between is left alone, as are matches over two dimensions. Losses of torch that squash themselves
        are model/loss-misuse.
    What to do
        Leave one of the two out.
    Example
        step 1, rank 0: sigmoid (train.py:14) is given the output of sigmoid (Sigmoid, train.py:22), so what it gives
        lies between 0.5 and 0.73 in 2 looks; expected scores of both signs. Leave one of the two out.
    """

    needs: ClassVar[tuple[type[SquashedAgain]]] = (SquashedAgain,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give the loss the scores: leave the sigmoid or softmax at the end of the model out",
        "or leave it out in the loss, and take probabilities there",
    )
    proved_by: ClassVar[str] = "model/skerry_maps"

    looks: int = 2
    """Inspected steps in which it is seen (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        memory = window.memory(self)
        for fact in window.new(SquashedAgain):
            steps = memory[fact.frame] = memory.get(fact.frame, set()) | {fact.ref.step}
            if len(steps) != self.looks or fact.ref.step != max(steps):
                continue
            layer = f" ({fact.inner_module}, {spot(fact.inner_frame).strip(' ()')})" if fact.inner_module else ""
            low, high = ends(fact)
            yield self.finding(
                window,
                "warning",
                f"{fact.outer}{spot(fact.frame)} is given the output of {fact.inner}{layer or spot(fact.inner_frame)}, "
                f"so what it gives lies between {low:.2g} and {high:.2g} in {self.looks} looks; expected scores of "
                "both signs. Leave one of the two out.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.inner_frame),
            )


def ends(fact: SquashedAgain) -> tuple[float, float]:
    """The least and the greatest value that both together can give."""
    if fact.outer == "softmax":
        others = max(fact.classes - 1, 1)
        return 1 / (math.e + others), math.e / (math.e + others)
    return 0.5, 1 / (1 + math.exp(-1))
