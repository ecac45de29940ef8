"""Gradients are not cleared between updates."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Layer
from debugtracer.trace.verdict import Change


class StaleGradients(Cause):
    """backward adds to .grad: without zero_grad each update applies the sum of all batches so far."""

    kind: ClassVar[str] = "stale_gradients"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "other-batch", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = (
        "optimizer/loss-spike",
        "optimizer/exploding-grad",
        "optimizer/loss-divergence",
    )
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/accum-scaling",)
    rewrites: ClassVar[tuple[str, ...]] = ("zero-grad",)
    remedies: ClassVar[tuple[str, ...]] = (
        "optimizer.zero_grad() before the first backward of each update",
        "clear what the optimizer holds, not only what the module holds",
    )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """Return zero_grad at that line; None for a line that steps a second time: it is one too many."""
        told = evidence.of(self.kind) if isinstance(evidence, FindingEvidence) else []
        if told and any(name == "repeated" for name in told[0].evidence):
            return None
        return super().change(evidence, frame, value)
