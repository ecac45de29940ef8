"""A value left the range of float32 or bfloat16 and nothing tells why it grew."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import LARGEST, IncidentEvidence


class ActivationOverflow(Cause):
    """An op overflows outside half precision."""

    kind: ClassVar[str] = "activation_overflow"
    fallback: ClassVar[bool] = True
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "lower-lr", "older-weights")
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the inputs of the step for a value out of scale: `debug-tracer report RUN --batch`",
        "normalise or clamp what goes into this op; lower the learning rate if the weights have grown",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """An overflow to Inf in a wide dtype; stays below every cause that knows why."""
        if incident.facts.birth is None or incident.birth.kind != "overflow" or incident.dtype == "float16":
            return None
        if incident.birth.number is not None:
            return None  # it was given the infinity
        limit = LARGEST.get(incident.dtype, LARGEST["float32"])
        few = " in a few rows of the batch only" if incident.few_rows else ""
        return Evidence(
            confidence=0.55,
            because=(
                f"the result of {incident.op} lies beyond {limit:.3g}, the end of {incident.dtype or 'its dtype'}{few}"
            ),
            remedies=self.remedies,
        )
