"""Training goes on in evaluation mode, or evaluation in training mode."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.rewrite.change import source_of
from debugtracer.causes.rewrite.scope import last_return, training_loop
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Layer
from debugtracer.trace.verdict import Change


class TrainEvalMode(Cause):
    """Dropout is off and batch norms use frozen statistics after model.eval(), until model.train() is called again."""

    kind: ClassVar[str] = "train_eval_mode"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/validation-gap",)
    remedies: ClassVar[tuple[str, ...]] = (
        "call model.train() at the begin of each epoch, and model.eval() right before each evaluation",
    )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """Return `model.train()` before the loop that trains (inside that loop before its first statement), for the
        model whose eval() this line is.

        An eval() inside that loop puts it before the first statement of the loop.
        In a function that only evaluates it stands before the return. Where the file sets the flag of the model by
        hand, once, train() stands in its place.
        """
        model, source = asleep(frame.code), source_of(frame)
        place = training_loop(source, frame.line) or last_return(source, frame.line)
        lines = source.splitlines()
        by_hand = [n for n, line in enumerate(lines, 1) if line.strip() == f"{model}.training = True"]
        if model and len(by_hand) == 1:
            return Change(
                file=frame.file, line=by_hand[0], before=f"{model}.training = True", after=(f"{model}.train()",)
            )
        if place is None or not model:
            return None
        before = lines[place - 1].strip()
        return Change(file=frame.file, line=place, before=before, after=(f"{model}.train()", before))


def asleep(code: str) -> str:
    """Return `model` for the line `model.eval()`; "" for any other."""
    name = code.partition("#")[0].strip().removesuffix(".eval()")
    return name if name != code and name.replace(".", "").isidentifier() else ""
