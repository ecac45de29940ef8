"""A negative base was raised to a fractional exponent."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence, values


class PowDomain(Cause):
    """x ** p is NaN for x < 0 unless p is an integer."""

    kind: ClassVar[str] = "pow_domain"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("power",)
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("clamp-argument",)
    remedies: ClassVar[tuple[str, ...]] = (
        "clamp the base: x.clamp_min(0) ** p (and 1e-8 if the gradient matters)",
        "keep the sign outside: x.sign() * x.abs() ** p",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A forward pow with NaN out and a negative base at the bad places."""
        out = incident.birth.output
        if not incident.born("forward", "pow", "float_power") or (out is not None and not out.nan):
            return None
        if incident.at(0) and not any(v < 0 for v in incident.at(0)):
            return None
        base_seen = f" (seen: {values(incident.at(0))})" if incident.at(0) else ""
        return Evidence(
            confidence=0.93 if incident.at(0) else 0.7,
            because=f"{incident.op} raises a negative number{base_seen} to a fractional power, which is NaN",
            remedies=self.remedies,
            seen=bool(incident.at(0)),
        )
