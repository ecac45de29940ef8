"""Are the targets of a loss that knows 1 and -1 given as 1 and 0?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.signed_target import SignedTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

GIVES = {
    "cosine_embedding_loss": "adds nothing to this loss",
    "margin_ranking_loss": "adds the margin, a constant",
    "soft_margin_loss": "adds log 2, a constant",
    "hinge_embedding_loss": "adds both terms, which cancel below the margin",
}
"""What one target that is neither 1 nor -1 does to a loss (the formulas of its page)."""


class TargetsUnsigned(Check, frozen=True):
    """Pairs that should be told apart have the target 0 where the loss asks for -1.

    What it catches
        Labels of 0 and 1 given to CosineEmbeddingLoss, MarginRankingLoss, SoftMarginLoss or HingeEmbeddingLoss, as
        modules or functions.
    Why it matters
        A target of 0 pulls nowhere. Only the 1s are learnt, the loss falls to nothing, and all answers become alike.
    How it decides
        In `calls` inspected calls of one line no target is below 0 and at least `least` of them are neither 1 nor -1.
        What such a target adds is the loss's formula. Where some are -1, a 0 is a tie. Losses with reduction "none"
        are not judged: a mask may follow. In a ranking loss 0 may be a tie of pairs that are sorted: a warning there.
    What to do
        Map the labels where they are made: `target = 2 * label - 1`.
    Example
        step 2, rank 0: cosine_embedding_loss (train.py:24) was given 47 of 96 targets that are neither 1 nor -1, in 3
        calls; targets lie in 0..1; each of these adds nothing to this loss; expected 1 or -1. Map the labels: 2 * y -
        1.
    """

    needs: ClassVar[tuple[type[SignedTarget]]] = (SignedTarget,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_out_of_range"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = ("map 0 and 1 to -1 and 1 where the labels are made: target = 2 * label - 1",)
    proved_by: ClassVar[str] = "data/question_pairs"

    calls: int = 3
    """Calls of the same line (ours, as for losses fed with probabilities)."""
    least: float = 0.05
    """Share of the targets that pull nowhere (ours: a rare unknown is a mark, not a class)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line."""
        lines: dict[object, list[SignedTarget]] = {}
        for call in window.seen(SignedTarget):
            lines.setdefault((call.loss, call.frame), []).append(call)
        memory = window.memory(self)
        for key, seen in lines.items():
            enough = len(seen) >= self.calls or window.ended
            other, total = sum(c.other for c in seen), sum(c.total for c in seen)
            if enough and key not in memory and not any(c.negative for c in seen) and other >= self.least * total:
                memory[key] = True
                yield self.describe(window, seen, other, total)

    def describe(self, window: Window, seen: list[SignedTarget], other: int, total: int) -> Finding:
        """Build the finding with what these targets add."""
        call, ranks = seen[0], seen[0].loss == "margin_ranking_loss"
        low, high = min(as_float(c.low) for c in seen), max(as_float(c.high) for c in seen)
        return self.finding(
            window,
            "warning" if ranks else "error",
            f"{call.loss}{spot(call.frame)} was given {other} of {total} targets that are neither 1 nor -1, in "
            f"{counted(len(seen), 'call')}; targets lie in {low:g}..{high:g}; each of these "
            f"{GIVES[call.loss]}; expected 1 or -1. "
            "Map the labels: 2 * y - 1.",
            ref=call.ref,
            exact=not ranks,
            confidence=0.8 if ranks else 0.97,
            place=Place(frame=call.frame, module=call.module),
            other=float(other),
            total=float(total),
        )
