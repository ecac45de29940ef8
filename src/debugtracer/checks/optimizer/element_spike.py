"""Are there elements of the gradient far beyond their second moment?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.element_spikes import BEYOND, ElementSpikes, SpikedParam
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ElementSpike(Check, frozen=True):
    """Elements of a gradient are more than seventy times as large as Adam's second moment expects: the spikes of SPAM.

    What it catches
        A gradient spike: one batch, or one layer, whose gradient is nothing like the gradients before.
    Why it matters
        Clipping by the norm shrinks the healthy rest with it, and the moments carry the spike for 1/(1 - beta2) steps;
        many loss spikes begin so (SPAM 2025).
    How it decides
        Just before the update, g^2 of each element against 5000 times its bias-corrected second moment, in an even
        sample of each tensor: on inspected steps and where the loss stands out. The share of such elements of a
        parameter is above `share` and there are at least `count`. Embeddings, elements seen too rarely (v far below
        that of the tensor) and the first `first` updates of an optimizer are left out. A note that names the layers.
    What to do
        Look at the batch of that step; clip elements (set g to sign(g) * sqrt(5000 * v) there, SPAM), reset the moments
        after it, clip the norm.
    Example
        step 537, rank 0: in 3 of 4 parameters g^2 is above 5000 times Adam's second moment, most in head.weight (88% of
        its elements, up to 1.3e+06 times); expected no such element. Look at the batch of this step; clip the gradient.
    """

    needs: ClassVar[tuple[type[ElementSpikes]]] = (ElementSpikes,)
    kind: ClassVar[str] = "adam_instability"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the batch of that step",
        "clip the elements beyond 5000 v to sign(g) * sqrt(5000 * v) and reset the moments (SPAM)",
        "clip the gradient: torch.nn.utils.clip_grad_norm_(parameters, 1.0)",
    )
    family: ClassVar[str] = "gradient"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients",)
    proved_by: ClassVar[str] = "optimizer/weighted_by_spread"

    share: float = 0.05  # of the elements of a parameter that count (ours: an expert that is rarely chosen has 2 %)
    count: int = 8  # such elements of a parameter (ours)
    first: int = 200  # updates: before, v is a mean of few gradients (ours; SPAM itself begins at once)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for each measurement that found enough of them."""
        for fact in window.new(ElementSpikes):
            hit = [p for p in fact.params if p.spiked >= self.count and p.spiked > self.share * p.sampled]
            if hit and fact.age >= self.first:
                yield self.describe(window, fact, hit)

    def describe(self, window: Window, fact: ElementSpikes, hit: list[SpikedParam]) -> Finding:
        """The layer with the largest share."""
        worst = max(hit, key=lambda p: (p.spiked / p.sampled, as_float(p.most)))
        return self.finding(
            window,
            "note",
            f"in {len(hit)} of {fact.looked} parameters g^2 is above {BEYOND:g} times {fact.optimizer}'s second "
            f"moment, most in {worst.name} ({worst.spiked / worst.sampled:.0%} of its elements, up to "
            f"{as_float(worst.most):.2g} times); expected no such element. Look at the batch of "
            "this step; clip the gradient.",
            ref=fact.ref,
            place=Place(param=worst.name, module=worst.name.rpartition(".")[0]),
            share=worst.spiked / worst.sampled,
            most=as_float(worst.most),
        )
