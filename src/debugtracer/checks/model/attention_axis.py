"""Do the weights of a weighted sum add up to 1?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.attention_axes import AttentionAxes
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AttentionAxis(Check, frozen=True):
    """The softmax of an attention runs over another dimension than the sum that its weights are for.

    What it catches
        `softmax(q @ k.T, dim=1)` before `@ v`: over the queries; `dim=1` of (batch, heads, queries, keys): over the
        heads; F.softmax without dim, which takes dimension 0 or 1.
    Why it matters
        What a query gets is no mean of the values: its weights add up to anything, a key that nobody wants is wanted by
        all. Training goes on, slower and to a worse end.
    How it decides
        From names and shapes of the graph, in `looks` inspected steps: a softmax of scores that are themselves a
        product of two batches of matrices, scaled or masked; what it gives is multiplied with one that is no softmax,
        after transposes, views, dropout or masks at most, and the product sums over another dimension. Weights that are
        divided by their sum are something else, so are wide matrices (an assignment of positions to slots) and those
        without a batch (tables of transitions).
    What to do
        Take the softmax over the keys: `dim=-1` of (..., queries, keys).
    Example
        step 0, rank 0: the weights of the softmax (train.py:21) of shape (50, 12, 12) add up to 1 along dimension 1,
        and the product (train.py:22) sums over dimension 2, in 2 looks; expected one and the same. Take the softmax
        over dimension 2.
    """

    needs: ClassVar[tuple[type[AttentionAxes]]] = (AttentionAxes,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "take the softmax over the keys: scores.softmax(dim=-1)",
        "or let torch do it: F.scaled_dot_product_attention(q, k, v)",
    )
    proved_by: ClassVar[str] = "model/bell_changes"

    looks: int = 2
    """Inspected steps of the same line (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once for a softmax."""
        memory = window.memory(self)
        for fact in window.new(AttentionAxes):
            looks = memory.setdefault(fact.made or fact.frame, {})
            if len(looks) >= self.looks:
                continue
            looks[fact.ref.step] = fact
            if len(looks) == self.looks:
                yield self.describe(window, next(iter(looks.values())))

    def describe(self, window: Window, fact: AttentionAxes) -> Finding:
        """Build the finding at the line of the softmax."""
        return self.finding(
            window,
            "warning",
            f"the weights of the softmax{spot(fact.made)} of shape {fact.shape} add up to 1 along dimension "
            f"{fact.soft}, and the product{spot(fact.frame)} sums over dimension {fact.summed}, in "
            f"{counted(self.looks, 'look')}; expected one and the same. Take the softmax over dimension {fact.summed}.",
            ref=fact.ref,
            place=Place(module=fact.module, frame=fact.made or fact.frame, symptom_frame=fact.frame),
            soft=float(fact.soft),
        )
