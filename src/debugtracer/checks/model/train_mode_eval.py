"""Is the model evaluated in training mode?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.module_modes import ModuleModes
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TrainModeEval(Check, frozen=True):
    """Calls without a graph run in training mode.

    What it catches
        A validation without `model.eval()`.
    Why it matters
        Dropout disturbs the metrics, and batch norm learns its statistics from the validation set.
    How it decides
        A trained module with dropout or batch norm was called three times without a graph while these layers were in
        training mode. A warning where that is an evaluation: no backward came between, and the batches are of a loader
        that trains nothing, or a loss was computed without a graph. Else a note: Monte-Carlo dropout, fresh batch-norm
        statistics and samples for a critic do it on purpose. Calls in a row with one and the same tensor are such
        draws, and are not counted; nor for the note is one for which the program has just called train().
    What to do
        Call `model.eval()` before the evaluation and `model.train()` after it.
    Example
        step 39, rank 0: Net was called 3 times without a graph with 4 dropout or batch-norm layers in training mode
        (line 63); expected evaluation mode. Call model.eval() before the evaluation.
    """

    needs: ClassVar[tuple[type[ModuleModes]]] = (ModuleModes,)
    kind: ClassVar[str] = "train_eval_mode"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = ("call model.eval() before the evaluation and model.train() after it",)
    proved_by: ClassVar[str] = "model/summed_loss"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per root and kind of call: the observer emits each once."""
        for fact in window.new(ModuleModes):
            if fact.silent:
                where = f" (line {fact.frame.line})" if fact.frame else ""
                yield self.finding(
                    window,
                    "warning" if fact.evaluation else "note",
                    f"{fact.root} was called {fact.silent} times without a graph with {fact.training} dropout or "
                    f"batch-norm layers in training mode{where}; "
                    "expected evaluation mode. Call model.eval() before the evaluation.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    confidence=0.85 if fact.evaluation else None,
                )
