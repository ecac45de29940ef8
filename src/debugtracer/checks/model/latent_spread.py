"""Is the spread of a latent the one that its divergence speaks of?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.latent_spread import LatentSpread as Spread
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LatentSpread(Check, frozen=True):
    """One output is the logarithm of a variance in the loss and that of a standard deviation where noise is scaled.

    What it catches
        A variational autoencoder with `std = torch.exp(logvar)` beside the divergence `1 + logvar - mu**2 -
        logvar.exp()`; noise that is multiplied with `logvar` itself, or drawn by `torch.rand_like`.
    Why it matters
        The divergence pulls a variance to 1, and the samples get its square: what is decoded in training is no draw
        from the distribution that the loss is the bound of.
    How it decides
        From the graph, in `looks` inspected steps: normal noise is multiplied with exp(L), or with L, and among
        what the loss adds up are L and exp(L), which belong together where L is the logarithm of a variance
        alone. Where L is that of a standard deviation the divergence has exp(2 L). Or uniform noise is multiplied with
        exp(L) or exp(L / 2).
    What to do
        Scale the noise by exp(L / 2).
    Example
        step 0, rank 0: noise is multiplied (vae.py:14) with exp(L) (vae.py:13), of shape (50, 4), and the loss
        adds up L and exp(L), in 2 looks: a divergence where L is the logarithm of the variance; expected noise
        times exp(L / 2). Write torch.exp(0.5 * L).
    """

    needs: ClassVar[tuple[type[Spread]]] = (Spread,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "scale the noise by the standard deviation: torch.exp(0.5 * logvar)",
        "or let the output be log sigma throughout: the divergence then has 2 * log_sigma and (2 * log_sigma).exp()",
    )
    proved_by: ClassVar[str] = "model/tide_pools"

    looks: int = 2
    """Inspected steps of the same line (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(Spread):
            looks = memory.setdefault(fact.frame, {})
            if len(looks) >= self.looks:
                continue
            looks[fact.ref.step] = fact
            if len(looks) == self.looks:
                yield self.describe(window, next(iter(looks.values())))

    def describe(self, window: Window, fact: Spread) -> Finding:
        """Build the finding at the line of the exponential, or of the draw."""
        if fact.drawn:
            return self.uniform(window, fact)
        factor = "L itself" if fact.raw else f"exp(L){spot(fact.frame)}"
        return self.finding(
            window,
            "warning",
            f"noise is multiplied{spot(fact.product)} with {factor}, of shape {fact.shape}, and the loss adds up L and "
            f"exp(L), in {counted(self.looks, 'look')}: a divergence where L is the logarithm of the variance; "
            "expected noise times exp(L / 2). Write torch.exp(0.5 * L).",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.product),
        )

    def uniform(self, window: Window, fact: Spread) -> Finding:
        """Build the finding of noise that is never below 0."""
        return self.finding(
            window,
            "warning",
            f"the noise that {fact.drawn}{spot(fact.frame)} draws is multiplied{spot(fact.product)} with a standard "
            f"deviation of shape {fact.shape} whose divergence from a normal distribution is in the loss, in "
            f"{counted(self.looks, 'look')}: uniform noise has mean 0.5 and is never below 0; expected normal noise. "
            "Draw it with randn.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.product),
            remedies=(f"draw normal noise: {fact.drawn.replace('rand', 'randn').replace('uniform_', 'normal_')}",),
        )
