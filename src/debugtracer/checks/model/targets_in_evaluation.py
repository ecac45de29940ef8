"""Does an evaluation give a model the targets that it is to predict?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.evaluated_targets import EvaluatedTargets
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TargetsInEvaluation(Check, frozen=True):
    """In an evaluation a decoder is still told the true values now and then, as in training.

    What it catches
        `model(source, target)` in an evaluation, where `teacher_forcing_ratio=0.5` is the default of the forward and
        nobody sets it to 0.
    Why it matters
        The reported loss is neither that of the model's own predictions nor that of the true past: it looks better than
        what the model does in use, and two evaluations of the same weights differ.
    How it decides
        In training an argument of the model holds what the loss asks for. At the first call without gradients and in
        evaluation mode that is given it, too, a copy of the model runs 12 times with generators of their own, each time
        once more with one position of the targets changed. With equal generators the copy gives equal outputs; in some
        of the runs an output changes with that position and in others none does, bit for bit: chance decides whether
        the decoder goes on from the target or from its own prediction. Where the outputs behind that position always
        depend on it, a text's likelihood may be what is measured, which is right: nothing is said of ids, and a note of
        numbers.
    What to do
        Turn teacher forcing off where the model is evaluated: `model(source, target, teacher_forcing_ratio=0)`.
    Example
        step 40, rank 0: the evaluation (train.py:58) gives Forecaster its targets (target), and an output depends on
        them in 7 of 12 runs, by chance; expected the model's own predictions. Turn teacher forcing off there.
    """

    needs: ClassVar[tuple[type[EvaluatedTargets]]] = (EvaluatedTargets,)
    kind: ClassVar[str] = "label_leak"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "turn teacher forcing off in evaluations: model(source, target, teacher_forcing_ratio=0)",
        "use the targets in forward only where self.training is True",
    )
    proved_by: ClassVar[str] = "model/reservoir_outlook"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each model."""
        for fact in window.new(EvaluatedTargets):
            always = fact.used == fact.runs
            if always and not fact.numbers:
                continue
            often = "always" if always else f"in {fact.used} of {fact.runs} runs, by chance"
            unless = "Unless the step to the next value alone is measured, turn" if always else "Turn"
            yield self.finding(
                window,
                "note" if always else "warning",
                f"the evaluation{spot(fact.frame)} gives {fact.root} its targets ({fact.argument}), and an output "
                f"depends on them {often}; expected the model's own predictions. {unless} teacher forcing off there.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
                used=fact.used,
                runs=fact.runs,
            )
