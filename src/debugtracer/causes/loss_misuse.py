"""The loss is fed with something else than it expects."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Layer
from debugtracer.trace.verdict import Change

ELSEWHERE = ("repeated", "drowned", "written", "misplaced")
"""Evidence of findings that the line of the loss is not to blame for."""


class LossMisuse(Cause):
    """Probabilities where it wants scores, a (N, 1) against a (N) that broadcasts to (N, N), a sum where a mean was
    meant."""

    kind: ClassVar[str] = "loss_misuse"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau", "model/init-loss")
    rewrites: ClassVar[tuple[str, ...]] = ("raw-scores", "class-dim", "same-shape", "mean-reduction")
    remedies: ClassVar[tuple[str, ...]] = (
        "give cross_entropy and the losses with logits the raw scores",
        "give both arguments one shape: loss(output.squeeze(-1), target)",
        "read what the loss expects: input, target, their shapes and dtypes",
    )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """Return no change of the loss's line where the stretching lies before it, where two terms are reduced in
        different ways, nor where the weights are in another order."""
        found = evidence.of(self.kind) if isinstance(evidence, FindingEvidence) else []
        elsewhere = bool(found) and any(found[0].evidence.get(word) for word in ELSEWHERE)
        return None if elsewhere else super().change(evidence, frame, value)
