"""Gradients grow through depth or time until they leave the range."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer


class ExplodingGradients(Cause):
    """The gradient overflows in backward, or grew by orders of magnitude before the overflow, while nothing clips
    it."""

    kind: ClassVar[str] = "exploding_gradients"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("clipped-gradient", "lower-lr", "standard-module", "reinit-layer")
    refuted_by: ClassVar[tuple[str, ...]] = ("fresh-moments", "larger-eps")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/clip-share", "optimizer/loss-spike", "model/gradient-limits")
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump", "model/vanishing-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("clip-gradient",)
    remedies: ClassVar[tuple[str, ...]] = (
        "clip before step(): torch.nn.utils.clip_grad_norm_(params, 1.0) (after unscale_ under a GradScaler)",
        "shorten the way: truncated backpropagation through time, residual connections, normalisation layers",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """An overflow in backward outside half precision, or after a gradient norm that grew at least hundredfold."""
        if (
            incident.facts.birth is None
            or not incident.born_inf
            or incident.dtype == "float16"
            or incident.birth.kind != "overflow"
        ):
            return None
        grown = incident.growth("grad_l2")
        backward = incident.born("backward")
        if grown < 100 and not backward:
            return None
        return Evidence(
            confidence=0.75 if backward and grown >= 100 else 0.6,
            because=f"the gradient overflows in the derivative of {incident.op}"
            if backward
            else f"the gradient norm grew {grown:.3g}-fold in the last steps until {incident.op} overflowed",
            remedies=self.remedies,
        )
