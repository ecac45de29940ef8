"""Is the noise that a sampler begins with the noise that was trained on?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.predicted_noise import PredictedNoise
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

UNIFORM = (0.5, 12**-0.5)  # mean and deviation of numbers between 0 and 1
NORMAL = (0.0, 1.0)


class NoiseDiffers(Check, frozen=True):
    """A network learns to predict uniform noise and is given Gaussian noise where it generates, or the other way round.

    What it catches
        `rand_like` for `randn_like` in a diffusion model: noise of mean 0.5 and deviation 0.29, where the schedule and
        the sampler count on mean 0 and deviation 1.
    Why it matters
        The loss is even lower than usual, for the noise is easier; the samples are garbage.
    How it decides
        In inspected steps a draw was multiplied by its share of the input and then compared with the prediction. Where
        the network is called without a graph, the first input at a line is noise alone: its mean and deviation are
        those of the other distribution, within `sigmas` standard errors, of at least `least` values.
    What to do
        Draw both with the same function: `randn_like` where a sampler begins with `randn`.
    Example
        step 191, rank 0: the noise that the model predicts is drawn by rand_like (ddpm.py:63) with mean 0.5 and std
        0.289, and it generates from noise (ddpm.py:83) with mean 0.003 and std 0.997; expected one distribution: what
        it generates from is 3.45 x -1.72, x what it was trained on. Draw both with the same function.
    """

    needs: ClassVar[tuple[type[PredictedNoise]]] = (PredictedNoise,)
    kind: ClassVar[str] = "noise_differs"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "draw the noise of training and of sampling with the same function: randn_like",
    )
    proved_by: ClassVar[str] = "data/sanded_boards"

    least: int = 256  # values (ours)
    sigmas: float = 5.0  # standard errors (ours)
    steps: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each draw once."""
        memory = window.memory(self)
        for fact in window.new(PredictedNoise):
            few = fact.count < self.least or fact.steps < self.steps or not as_float(fact.std)
            if few or fact.frame in memory or not self.is_other(fact):
                continue
            trained = as_float(fact.mean), as_float(fact.std)
            given = as_float(fact.given_mean), as_float(fact.given_std)
            factor = given[1] / trained[1]
            memory[fact.frame] = True
            yield self.finding(
                window,
                "warning",
                f"the noise that the model predicts is drawn by {fact.draw}{spot(fact.frame)} with mean "
                f"{trained[0]:.3g} and std {trained[1]:.3g}, and it generates from noise{spot(fact.given_frame)} with "
                f"mean {given[0]:.3g} and std {given[1]:.3g}; expected one distribution: what it generates from is "
                f"{factor:.3g} x {given[0] - factor * trained[0]:+.3g}, x what it was trained on. Draw both with the "
                "same function.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.given_frame),
            )

    def is_other(self, fact: PredictedNoise) -> bool:
        """Whether training draws from one of the two distributions, and the first input is of the other."""
        uniform = fact.draw.startswith("rand") and not fact.draw.startswith("randn")
        if uniform:
            return self.is_of(fact, NORMAL) and as_float(fact.low) < 0
        return self.is_of(fact, UNIFORM) and as_float(fact.low) >= 0 and as_float(fact.high) <= 1

    def is_of(self, fact: PredictedNoise, distribution: tuple[float, float]) -> bool:
        """Whether the numbers of the first input are those of a distribution."""
        error = self.sigmas * distribution[1] / fact.count**0.5
        off = (as_float(fact.given_mean) - distribution[0], as_float(fact.given_std) - distribution[1])
        return all(abs(x) <= error for x in off)
