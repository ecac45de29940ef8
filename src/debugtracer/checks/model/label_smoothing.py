"""Does label smoothing fit this loss?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.label_smoothing import LabelSmoothing as Looked
from debugtracer.trace.facts.label_smoothing import Smoothed
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

BLOCK = 16  # losses whose median is a level (as of a loss that diverges)
TINY = 1e-12  # a gradient variance from which a share says nothing: the rows are as good as solved (ours)


class LabelSmoothing(Check, frozen=True):
    """Smoothing over classes that are closed, or a confident model that would gain from smoothing.

    What it catches
        `label_smoothing` together with logits of -inf (a vocabulary mask): the smoothed target puts weight on them and
        the loss is infinite. And a model that is far surer than it is right.
    Why it matters
        The first is an infinite loss at once; the second is overconfidence that a value of 0.05 to 0.1 cures.
    How it decides
        On inspected steps, on the batch of the loss itself: a class with a logit of -inf under label_smoothing > 0 is
        exact. From step `after` on, mean largest probability above accuracy by `gap` in two looks is a note with the
        measured effect of 0.1 and 0.2, and another one where it is beyond that by `gap` once more; not while the loss
        is `relearns` times what it has been: a model at a new task is surer than right until it has learnt that.
    What to do
        Smooth over the open classes only, or pass label_smoothing=0.1 to cross_entropy.
    Example
        step 100, rank 0: label_smoothing 0.1 is used with 12 of 61 classes at -inf; expected finite logits for every
        smoothed class. Smooth the open classes only.
    """

    needs: ClassVar[tuple[type[Looked]]] = (Looked,)
    kind: ClassVar[str] = "label_smoothing_misuse"
    symptom: ClassVar[str] = "nan_loss"
    remedies: ClassVar[tuple[str, ...]] = (
        "smooth over the open classes only: -(q * log_p).masked_fill(closed, 0)",
        "or set label_smoothing=0.0 for this loss",
    )
    proved_by: ClassVar[str] = "model/smoothed_closed_classes"

    gap: float = 0.15  # mean largest probability minus accuracy on the batch (ours)
    after: int = 100  # steps (ours: before, accuracy is noise)
    relearns: float = 1.5  # times the lowest median of BLOCK losses (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error for closed classes at once, advice when two measurements agree."""
        for fact in window.new(Looked):
            if fact.used > 0 and fact.closed:
                yield self.finding(
                    window,
                    "error",
                    f"label_smoothing {fact.used:g} is used with {fact.closed} of {fact.classes} classes at -inf; "
                    "expected finite logits for every smoothed "
                    "class. Smooth the open classes only.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    confidence=0.9,
                    closed=fact.closed,
                )
            elif fact.used == 0 and not fact.closed and not self.learns_anew(window):
                yield from self.advice(window, fact)

    def learns_anew(self, window: Window) -> bool:
        """Whether the loss is far above what it has been."""
        losses = window.finite(LOSS)
        levels = [median(losses[end - BLOCK : end]) for end in range(len(losses), BLOCK - 1, -BLOCK)]
        return bool(levels) and levels[0] > self.relearns * min(levels)

    def advice(self, window: Window, fact: Looked) -> Iterator[Finding]:
        """What 0.1 and 0.2 would do, when the model is far surer than right."""
        looks = [f for f in window.seen(Looked) if f.ref.step >= self.after and f.rows >= 32][-2:]
        told = window.memory(self)
        beyond = fact.top_probability - fact.accuracy
        if len(looks) < 2 or not math.isfinite(beyond) or any(f.top_probability - f.accuracy < self.gap for f in looks):
            return
        if beyond < told.get(fact.frame, 0.0) + self.gap:  # told, and not much worse since
            return
        told[fact.frame] = beyond
        effects = "; ".join(effect(smoothed, fact.table[0].gradient_variance) for smoothed in fact.table[1:])
        yield self.finding(
            window,
            "note",
            f"the model gives {fact.top_probability:.0%} to its guess and is right in {fact.accuracy:.0%} of "
            f"{counted(fact.rows, 'target')}; expected within "
            f"{self.gap:.0%}. label_smoothing=0.1 may help (on this batch {effects}).",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            remedies=("pass label_smoothing=0.1 to cross_entropy",),
            top_probability=fact.top_probability,
            accuracy=fact.accuracy,
        )


def effect(smoothed: Smoothed, before: float) -> str:
    """What one value of label_smoothing does to the targets and, where the gradient varies without it, to that."""
    varies = f", gradient variance {smoothed.gradient_variance / before - 1:+.0%}" if before > TINY else ""
    return f"{smoothed.epsilon:g}: KL {smoothed.target_kl:.3f}{varies}"
