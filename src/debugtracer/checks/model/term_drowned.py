"""Is one term of a loss drowned by another?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import at_line
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TermDrowned(Check, frozen=True):
    """A loss adds a mean to a sum: an element of the one weighs thousands of times less than one of the other.

    What it catches
        A variational autoencoder with the mean of its reconstruction beside the sum of its divergence: the code
        collapses to the prior. Any penalty that is a sum over the batch beside a mean.
    Why it matters
        The summed term is satisfied in a few dozen steps and holds the model there; the other can no longer learn. The
        loss looks converged.
    How it decides
        A loss is the sum of a mean and a sum over tensors, and an element of the sum has at least `ratio` times the
        weight of one of the mean, with all factors counted. The sum has fallen to `gone` of what it was at first and
        of the mean, without being 0 (a constraint that is met). The mean stands: its last `looks` values lie within
        `still`, and above `left` of the first.
    What to do
        Reduce both alike: two sums over the batch, or both divided by its size.
    Example
        step 300, rank 0: an element of the mean (train.py:36, over 6400) weighs 3200 times less in the loss than one of
        the sum (train.py:38, over 512); the sum has fallen from 4.09 to 0.0037 and the mean stands at 0.487 (at first
        0.699); expected both to be reduced alike. Give both the same reduction.
    """

    needs: ClassVar[tuple[type[LossTerms]]] = (LossTerms,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        'give both terms one reduction: reduction="sum" beside torch.sum, both divided by the batch size',
        "or weigh the sum by what the mean is divided by",
    )
    proved_by: ClassVar[str] = "model/mill_wheels"

    ratio: float = 1000.0
    """Between the weights of two elements (ours: latent and pixel counts alone make tens to hundreds)."""
    gone: float = 0.02
    """Of the summed term (ours)."""
    left: float = 0.5
    """Of the mean (ours: what learns falls further)."""
    still: float = 0.05
    """Between the last looks (ours)."""
    looks: int = 3
    """Values of the mean that stand (ours: two may be alike by chance)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Follow the terms of each line; said once."""
        memory = window.memory(self)
        for fact in window.new(LossTerms):
            seen = memory.setdefault(fact.frame, [])
            if seen and len(seen[0].terms) != len(fact.terms):
                seen.clear()
            seen.append(fact)
            del seen[1 : -self.looks]
            if len(seen) > self.looks and ("told", fact.frame) not in memory and (pair := self.drowned(seen)):
                memory["told", fact.frame] = True
                yield self.describe(window, fact, seen[0], *pair)

    def drowned(self, seen: list[LossTerms]) -> tuple[int, int] | None:
        """The places of the mean and of the sum among the terms; None where neither is drowned."""
        first, last = seen[0].terms, seen[-1].terms
        for mean, total in permutations(range(len(last)), 2):
            if (
                last[mean].reduction != "mean"
                or last[total].reduction != "sum"
                or self.apart(last, mean, total) is None
            ):
                continue
            heavy, began = abs(as_float(last[total].value)), abs(as_float(first[total].value))
            values = [abs(as_float(fact.terms[mean].value)) for fact in seen[-self.looks :]]
            top, at_first = max(values), abs(as_float(first[mean].value))
            if 0 < heavy <= self.gone * min(began, top) and min(values) >= max(
                self.left * at_first, top * (1 - self.still)
            ):
                return mean, total
        return None

    def apart(self, terms: tuple[Term, ...], mean: int, total: int) -> float | None:
        """How many times more an element of the sum weighs; None where that is too little, or not known."""
        light, heavy = terms[mean].weight, terms[total].weight
        if light is None or heavy is None or not as_float(light):
            return None
        ratio = as_float(heavy) / as_float(light)
        return ratio if ratio >= self.ratio else None

    def describe(self, window: Window, fact: LossTerms, first: LossTerms, mean: int, total: int) -> Finding:
        """Build the finding with both terms, at first and now."""
        light, heavy = fact.terms[mean], fact.terms[total]
        ratio = self.apart(fact.terms, mean, total) or 0.0
        of_mean, of_sum = (at_line(term.frame) if term.frame is not None else "" for term in (light, heavy))
        return self.finding(
            window,
            "warning",
            f"an element of the mean ({of_mean}, over {light.elements}) weighs {ratio:.4g} times less in the loss than "
            f"one of the sum ({of_sum}, over {heavy.elements}); the sum has fallen from "
            f"{as_float(first.terms[total].value):.3g} to {as_float(heavy.value):.2g} and the mean stands at "
            f"{as_float(light.value):.3g} (at first {as_float(first.terms[mean].value):.3g}); expected both to be "
            "reduced alike. Give both the same reduction.",
            ref=fact.ref,
            place=Place(frame=light.frame, symptom_frame=fact.frame),
            drowned=ratio,
        )
