"""Is a denoiser asked for anything but its own input?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.noisy_target import NoisyTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class NoiseKept(Check, frozen=True):
    """The target of the loss is the noisy input of the model itself.

    What it catches
        A diffusion model or a denoiser whose loss compares the output with the noisy data, where the noise (or the
        clean data) was meant.
    Why it matters
        The answer is the question: the model learns to hand its input on. The loss falls further than that of a right
        one, and the samples are worthless.
    How it decides
        In an inspected step noise is drawn and added to data of a fetched batch; that very tensor is an argument of the
        model and the target of the only loss of the step, an elementwise one. Noise makes up a good part of it (a
        correlation of `noise` or more), so it is not the noise of a dequantisation. Seen in `steps` steps. An
        autoencoder has no noise in its input, one that removes noise has the clean data as its target.
    What to do
        Compare with the noise, or with the clean data.
    Example
        step 0, rank 0: the target of mse_loss (ddpm.py:192) is the model's own input, data with the noise of line 185
        added (correlation 0.62), in 3 steps; expected the noise or the clean data. Compare with one of them.
    """

    needs: ClassVar[tuple[type[NoisyTarget]]] = (NoisyTarget,)
    kind: ClassVar[str] = "label_leak"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "a model that predicts the noise: compare its output with the noise that was added",
        "one that predicts the data: compare it with the data from before the noise was added",
    )
    proved_by: ClassVar[str] = "model/sonar_pings"

    noise: float = 0.2
    """Correlation of the target with the noise (ours: that of a dequantisation is below 0.01)."""
    steps: int = 3
    """Inspected steps (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line."""
        memory = window.memory(self)
        for fact in window.new(NoisyTarget):
            seen = memory.setdefault(fact.key(), [])
            if abs(fact.noise) >= self.noise:
                seen.append(fact)
                if len(seen) == self.steps:
                    yield self.describe(window, seen)

    def describe(self, window: Window, seen: list[NoisyTarget]) -> Finding:
        """Build the finding with where the noise is drawn."""
        fact = seen[0]
        drawn = f" of line {fact.drawn.line}" if fact.drawn else ""
        return self.finding(
            window,
            "warning",
            f"the target of {fact.loss}{spot(fact.frame)} is the model's own input, data with the noise{drawn} added "
            f"(correlation {fact.noise:.2f}), in {counted(len(seen), 'step')}; expected the noise or the "
            "clean data. Compare with "
            "one of them.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.drawn),
            noise=fact.noise,
        )
