"""Does training go on with what an evaluation froze?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.frozen_evaluation import FrozenEvaluation
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FrozenByEvaluation(Check, frozen=True):
    """An evaluation freezes parameters, and training goes on without them.

    What it catches
        `requires_grad_(False)` before features are computed for a score, and no `requires_grad_(True)` after it; a
        validation hook that freezes a part. A part that `train()` freezes, where the first epoch begins without it.
    Why it matters
        From the second epoch on only the rest learns. The loss still falls a little, and nothing fails.
    How it decides
        When an evaluation called the model, parameters were frozen that the last update had trained: they could be
        trained when the phase began and hold its gradient, as the others do. They were still frozen at the next
        evaluation or the end of the run, `steps` updates later or more. A part that is frozen on purpose is frozen
        while training goes on, and has no gradient then.
    What to do
        Compute features under torch.no_grad(), or set requires_grad_(True) when the evaluation is over. What train() of
        a module freezes was to be frozen from the start: call model.train() before the first update.
    Example
        step 25, rank 0: 4 of 6 parameters (encoder.1.weight, ...; 93% of all values) are frozen since the evaluation
        at train.py:44 (train.py:39 freezes) and were not unfrozen in 25 updates; expected those that learnt before it
        to go on. Use torch.no_grad() there, or set requires_grad_(True) after it.
    """

    needs: ClassVar[tuple[type[FrozenEvaluation]]] = (FrozenEvaluation,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "train_eval_mode"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "compute features under torch.no_grad() instead of freezing the parameters",
        "set requires_grad_(True) on the part when the evaluation is over",
    )
    proved_by: ClassVar[str] = "model/gull_colonies"

    steps: int = 8
    """Updates without them (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once a run."""
        memory = window.memory(self)
        for fact in window.new(FrozenEvaluation):
            if fact.steps >= self.steps and "told" not in memory:
                memory["told"] = True
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: FrozenEvaluation) -> Finding:
        """Build the finding, at the line that freezes where it is known."""
        dots = ", ..." if fact.count > 1 else ""
        if fact.by_train is not None:
            return self.thawed(window, fact, fact.by_train)
        at = f" at {file_line(fact.frame)}" if fact.frame else ""
        by = f" ({file_line(fact.frozen_by)} freezes)" if fact.frozen_by else ""
        return self.finding(
            window,
            "warning",
            f"{fact.count} of {fact.held} parameters ({fact.params[0]}{dots}; {fact.share:.0%} of all values) are "
            f"frozen since the evaluation{at}{by} and were not unfrozen in "
            f"{counted(fact.steps, 'update')}; expected those that "
            "learnt before it to go on. Use torch.no_grad() there, or set requires_grad_(True) after it.",
            ref=msgspec.structs.replace(
                fact.ref,
                step=max(fact.ref.step - fact.steps, 0),
                iteration=max(fact.ref.iteration + 1 - fact.steps, 0),
            ),
            place=Place(
                param=fact.params[0],
                module=fact.params[0].rpartition(".")[0] or None,
                frame=fact.frozen_by or fact.frame,
                symptom_frame=fact.frame,
            ),
            share=fact.share,
            steps=float(fact.steps),
        )

    def thawed(self, window: Window, fact: FrozenEvaluation, train: Frame) -> Finding:
        """Build the finding of a part that was to be frozen from the start and was trained until train() came."""
        dots = ", ..." if fact.count > 1 else ""
        return self.finding(
            window,
            "warning",
            f"{fact.count} of {fact.held} parameters ({fact.params[0]}{dots}; {fact.share:.0%} of all values) were "
            f"trained until the evaluation{spot(fact.frame)} and are frozen since: train(){spot(train)} freezes them, "
            "and was not called before the first update; expected them to be frozen from the start. Call model.train() "
            "before the loop, or freeze them where the module is built.",
            ref=fact.ref,
            place=Place(
                param=fact.params[0],
                module=fact.params[0].rpartition(".")[0] or None,
                frame=fact.frozen_by or train,
                symptom_frame=fact.frame,
            ),
            remedies=(
                "call model.train() before the first update, not after an evaluation alone",
                "or freeze the part in __init__ too, where the module is built",
            ),
            share=fact.share,
            steps=float(fact.steps),
        )
