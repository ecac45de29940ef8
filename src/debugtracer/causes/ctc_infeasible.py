"""A CTC target that is longer than its input."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer


class CtcInfeasible(Cause):
    """ctc_loss is Inf when no alignment exists: fewer frames than labels plus repeats, or an input length of 0."""

    kind: ClassVar[str] = "ctc_infeasible"
    layer: ClassVar[Layer] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments", "older-weights")
    rewrites: ClassVar[tuple[str, ...]] = ("zero-infinity",)
    remedies: ClassVar[tuple[str, ...]] = (
        "drop samples whose input length is below target length + repeated labels",
        "pass zero_infinity=True to the loss: such samples then count 0",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A non-finite value out of a forward ctc_loss."""
        if not incident.born("forward", "ctc_loss", "cudnn_ctc_loss"):
            return None
        return Evidence(
            confidence=0.9,
            because=(
                f"{incident.op} finds no alignment: a target is longer than its input, or repeats need more frames"
                f"{incident.made.replace(', made', '; the loss is built')}"
            ),
            remedies=self.remedies,
            place=incident.made_place,
        )
