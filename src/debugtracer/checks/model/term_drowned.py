"""Is one term of a loss drowned by another?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TermDrowned(Check, frozen=True):
    """A loss adds a mean to a sum: an element of the one weighs many times less than one of the other.

    What it catches
        A variational autoencoder with the mean of its reconstruction beside the sum of its divergence, over all or of
        each row: the code collapses to the prior. Any penalty that is a sum over the batch beside a mean.
    Why it matters
        The summed term is satisfied in a few dozen steps and holds the model there; the other can no longer learn. The
        loss looks converged.
    How it decides
        A loss is the sum of a mean and a sum over tensors, and an element of the sum weighs many times more than one of
        the mean, with all factors counted. Then either the weights are `ratio` apart, the sum has fallen to `gone` of
        what it was at first and of the mean, without being 0 (a constraint that is met), and the mean stands: its last
        `looks` values lie within `still`, and above `left` of the first. Or they are `least` apart and stay so, the sum
        began above `gone` of the mean, and in the last `looks`, or two that lie `apart_steps` steps apart, it is gone
        in that sense and the answers that the mean compares with their targets are the same for every row: they vary by
        less than `alike` of what the targets do. Penalties on weights alone are left out.
    What to do
        Reduce both alike: two sums over the batch, or both divided by its size.
    Example
        step 300, rank 0: an element of the mean (train.py:36, over 6400) weighs 3200 times less in the loss than one of
        the sum (train.py:38, over 512); the sum has gone from 4.09 to 0.0037 and the mean stands at 0.487 (at first
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
    least: float = 10.0
    """The same where all answers are alike (ours: 1 is a likelihood of variance 1, factors of a few are chosen)."""
    alike: float = 0.02
    """Variance over rows of the answers to that of the targets (ours: the best constant has 0)."""
    gone: float = 0.02
    """Of the summed term (ours)."""
    left: float = 0.5
    """Of the mean (ours: what learns falls further)."""
    still: float = 0.05
    """Between the last looks (ours)."""
    looks: int = 3
    """Values of the mean that stand (ours: two may be alike by chance)."""
    apart_steps: int = 50
    """Steps between two looks that are enough where all answers are alike (ours: a model that has begun tells rows
    apart)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Follow the terms of each line; said once."""
        memory = window.memory(self)
        for fact in window.new(LossTerms):
            seen = memory.setdefault(fact.frame, [])
            if seen and len(seen[0].terms) != len(fact.terms):
                seen.clear()
            seen.append(fact)
            del seen[1 : -self.looks]
            if len(seen) > 2 and ("told", fact.frame) not in memory and (pair := self.drowned(seen)):
                memory["told", fact.frame] = True
                yield self.describe(window, fact, seen[0], *pair)

    def drowned(self, seen: list[LossTerms]) -> tuple[int, int] | None:
        """The places of the mean and of the sum among the terms; None where neither is drowned."""
        last = seen[-1].terms
        for mean, total in permutations(range(len(last)), 2):
            if last[mean].reduction != "mean" or last[total].reduction != "sum":
                continue
            apart = self.apart(last, mean, total)
            if (apart >= self.ratio and self.stands(seen, mean, total)) or (
                apart >= self.least and self.answers_alike(seen, mean, total)
            ):
                return mean, total
        return None

    def stands(self, seen: list[LossTerms], mean: int, total: int) -> bool:
        """Whether the sum is gone and the mean is where it was."""
        if len(seen) <= self.looks:
            return False
        values = [abs(as_float(fact.terms[mean].value)) for fact in seen[-self.looks :]]
        top, at_first = max(values), abs(as_float(seen[0].terms[mean].value))
        still = min(values) >= max(self.left * at_first, top * (1 - self.still))
        return still and self.is_gone(seen[-1], seen[0], total, top)

    def answers_alike(self, seen: list[LossTerms], mean: int, total: int) -> bool:
        """Whether the sum was gone and all rows got the same answer in each of the last looks, or in two that lie far
        enough apart, with a weight that stays. A sum that began with next to nothing never held the model."""
        far = seen[-1].ref.step - seen[-2].ref.step >= self.apart_steps
        looks = 2 if far else self.looks
        weights = {seen[0].terms[total].weight, seen[-1].terms[total].weight}
        light, heavy = (abs(as_float(seen[0].terms[place].value)) for place in (mean, total))
        return (
            len(seen) > looks
            and len(weights) == 1
            and heavy >= self.gone * light
            and heavy > 0
            and all(
                (share := varies(fact.terms[mean])) is not None
                and share <= self.alike
                and self.is_gone(fact, seen[0], total, abs(as_float(fact.terms[mean].value)))
                for fact in seen[-looks:]
            )
        )

    def is_gone(self, fact: LossTerms, first: LossTerms, total: int, mean: float) -> bool:
        """Whether next to nothing is left of the sum, beside its first value and the mean."""
        heavy, began = (abs(as_float(one.terms[total].value)) for one in (fact, first))
        return 0 < heavy <= self.gone * min(began, mean)

    def apart(self, terms: tuple[Term, ...], mean: int, total: int) -> float:
        """How many times more an element of the sum weighs; 0 where that is not known."""
        light, heavy = terms[mean].weight, terms[total].weight
        if light is None or heavy is None or not as_float(light):
            return 0.0
        return as_float(heavy) / as_float(light)

    def describe(self, window: Window, fact: LossTerms, first: LossTerms, mean: int, total: int) -> Finding:
        """Build the finding with both terms, at first and now."""
        light, heavy = fact.terms[mean], fact.terms[total]
        ratio, share = self.apart(fact.terms, mean, total), varies(light)
        same = share is not None and share <= self.alike
        rows = f"; its answers vary over the rows by {share:.2g} of what the targets do" if same else ""
        of_mean, of_sum = (file_line(term.frame) if term.frame is not None else "" for term in (light, heavy))
        return self.finding(
            window,
            "warning",
            f"an element of the mean ({of_mean}, over {light.elements}) weighs {ratio:.4g} times less in the loss than "
            f"one of the sum ({of_sum}, over {heavy.elements}); the sum has gone from "
            f"{as_float(first.terms[total].value):.3g} to {as_float(heavy.value):.2g} and the mean stands at "
            f"{as_float(light.value):.3g} (at first {as_float(first.terms[mean].value):.3g}){rows}; expected "
            "both to be reduced alike. Give both the same reduction.",
            ref=fact.ref,
            place=Place(frame=light.frame, symptom_frame=fact.frame),
            drowned=ratio,
        )


def varies(term: Term) -> float | None:
    """How far the answers of a term differ from row to row, of what the targets do; None where they do not."""
    if term.spread is None or term.target_spread is None or not as_float(term.target_spread) > 0:
        return None
    return as_float(term.spread) / as_float(term.target_spread)
