"""Is a spectral norm used before it has measured its weight?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.spectral_start import SpectralStart
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SpectralUnmeasured(Check, frozen=True):
    """A model with `torch.nn.utils.spectral_norm` is evaluated before its first forward in training mode.

    What it catches
        An evaluation before the first epoch, or statistics of a fresh model taken in evaluation mode.
    Why it matters
        This spectral norm estimates the size of a weight in forward passes of training mode alone, and starts from
        random vectors: until then weights are divided by a number that has nothing to do with them, and the outputs are
        too large by that factor in each layer. Baselines and decisions made of them are worthless.
    How it decides
        Before a call in evaluation mode, until the first backward: the estimate is below half the largest singular
        value of the weight. Both are computed once. Weights that come with a checkpoint bring their estimate along.
    What to do
        Call the model once in training mode before (its gradients are not needed), or use
        `torch.nn.utils.parametrizations.spectral_norm`, which measures when it is built.
    Example
        step 0, rank 0: Critic (train.py:47) is evaluated before its spectral norms have measured: up.weight is divided
        by 0.0113, and its largest singular value is 1.32 (117 times more; 4 of 4 weights); expected that value. Call
        the model once in training mode first.
    """

    needs: ClassVar[tuple[type[SpectralStart]]] = (SpectralStart,)
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call the model once in training mode before it is evaluated: model.train(); model(batch); model.eval()",
        "or use torch.nn.utils.parametrizations.spectral_norm",
    )
    proved_by: ClassVar[str] = "model/tested_untrained"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each model."""
        for fact in window.new(SpectralStart):
            times = f"{fact.norm / fact.estimate:.3g} times more; " if fact.estimate else ""
            yield self.finding(
                window,
                "warning",
                f"{fact.root}{spot(fact.frame)} is evaluated before its spectral norms have measured: {fact.parts[0]} "
                f"is divided by {fact.estimate:.3g}, and its largest singular value is {fact.norm:.3g} "
                f"({times}{len(fact.parts)} of {fact.of} weights); expected that value. Call the model once in "
                "training mode first.",
                ref=fact.ref,
                place=Place(param=fact.parts[0], module=fact.parts[0].rpartition(".")[0], frame=fact.frame),
            )
