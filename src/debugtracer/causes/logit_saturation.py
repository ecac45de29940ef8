"""Scores so large that softmax or attention leaves the range."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.masked_softmax_all_masked import SOFTMAX


class LogitSaturation(Cause):
    """Query times key, or a logit, is beyond the range of float32 inside an attention or softmax op: Inf - Inf is
    NaN."""

    kind: ClassVar[str] = "logit_saturation"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "older-weights")
    refuted_by: ClassVar[tuple[str, ...]] = ("clipped-gradient", "fresh-moments", "larger-eps")
    supports: ClassVar[tuple[str, ...]] = ("model/logit-divergence",)
    remedies: ClassVar[tuple[str, ...]] = (
        "look for a value out of scale in the batch (a fill value such as 1e20): `debug-tracer report RUN --batch`",
        (
            "normalise queries and keys before their product (a norm layer on q and k), or cap the scores: 50 * "
            "torch.tanh(scores / 50)"
        ),
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A softmax or fused attention that is not finite, from +Inf scores or finite inputs without a -inf mask."""
        if incident.dtype == "float16" or not (
            incident.born("forward", *SOFTMAX) or (incident.born("forward") and incident.attention)
        ):
            return None
        plus = any(t.posinf for t in incident.birth.inputs)
        masked = any(t.neginf for t in incident.birth.inputs)
        if not plus and (masked or not incident.attention):
            return None
        return Evidence(
            confidence=0.8 if not masked else 0.6,
            because=(
                f"the scores inside {incident.op} are beyond the range of {incident.dtype or 'the dtype'}, and Inf - "
                "Inf is NaN"
            ),
            remedies=self.remedies,
        )
