"""Do the two sides of a loss that draws them together still tell samples apart?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.compared_views import ComparedViews
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ViewsCollapse(Check, frozen=True):
    """A loss pulls two outputs of a network together until all samples come out the same.

    What it catches
        A joint embedding without its stop-gradient (SimSiam, BYOL without `.detach()` on the side of the target) and
        without negatives.
    Why it matters
        The best answer is a constant. The loss falls to its least value at once and looks like a success; the
        representation tells nothing.
    How it decides
        A cosine, or a squared, absolute or smooth difference, of two outputs that both have a graph is in the loss, and
        no loss of another line is. In inspected steps the mean cosine between rows of different samples (for a
        difference, their mean product against their mean square: rows of one direction and many lengths differ) is
        `alike` or more on both sides, and was `apart` or less on one and `given` or less on the other in the first
        step: what one side always was may be what the other is to learn. Said once a line.
    What to do
        Detach the side that is the target, or add what keeps samples apart (negatives, a variance term).
    Example
        step 100, rank 0: cosine_similarity (train.py:41) draws two outputs together that both have a graph, and the
        outputs of 128 different samples point one way on both sides: mean cosine 1.000, 0.11 in step 0; expected
        samples that stay apart. Detach the side that is the target.
    """

    needs: ClassVar[tuple[type, ...]] = (ComparedViews, LossCall)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "detach the side that is the target: `cosine_similarity(p, z.detach())`",
        "print the standard deviation of the normalised outputs over the batch beside the loss",
    )
    proved_by: ClassVar[str] = "model/twin_scans"

    alike: float = 0.98
    """Mean cosine between rows of different samples (ours: collapsed runs are above 0.99, others below 0.9)."""
    apart: float = 0.9
    """The same in the first step (ours: outputs of a deep network that never told samples apart are another fault)."""
    given: float = 0.95
    """The same of the side that was more alike (ours: 0.92 behind a small random predictor)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Compare each look at a line with the first one of it."""
        memory = window.memory(self)
        for call in window.new(LossCall):
            memory.setdefault("lines", set()).add(call.frame)
        for fact in window.new(ComparedViews):
            first = memory.setdefault(fact.frame, fact)
            memory.setdefault("pairs", set()).add(fact.frame)
            others = memory.get("lines", set()) - memory["pairs"]
            at_first = as_float(first.alike)
            began = at_first <= self.apart and (first.most_alike is None or as_float(first.most_alike) <= self.given)
            is_alike = as_float(fact.alike) >= self.alike and began
            if not is_alike or others or fact.frame in memory.setdefault("told", set()):
                continue
            memory["told"].add(fact.frame)
            way, measure = ("point one way", "cosine") if is_cosine(fact) else ("are one", "product")
            yield self.finding(
                window,
                "warning",
                f"{fact.function}{spot(fact.frame)} draws two outputs together that both have a graph, and the outputs "
                f"of {fact.rows} different samples {way} on both sides: mean {measure} "
                f"{as_float(fact.alike):.3f}, {at_first:.2f} in step {first.ref.step}; expected samples "
                "that stay apart. Detach the side that is the target.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                alike=as_float(fact.alike),
                first=at_first,
            )


def is_cosine(fact: ComparedViews) -> bool:
    """Whether directions are compared."""
    return fact.function == "cosine_similarity" or "mul" in fact.function
