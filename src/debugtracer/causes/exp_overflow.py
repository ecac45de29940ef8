"""exp beyond the range of the dtype."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import EXP_LIMIT, IncidentEvidence, values


class ExpOverflow(Cause):
    """exp(x) is Inf for x > 88.7 in float32 and bfloat16, for x > 11.1 in float16."""

    kind: ClassVar[str] = "exp_overflow"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("exp",)
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("clamp-argument",)
    remedies: ClassVar[tuple[str, ...]] = (
        "bound the exponent: x.clamp(max=20), or softplus(x) where exp(x) only has to be positive",
        "normalise in log space: logsumexp, log_softmax subtract the maximum first",
        (
            "find out why the exponent grew: a high learning rate, an input out of scale (`debug-tracer report RUN "
            "--batch`)"
        ),
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A forward exp with Inf out."""
        if not incident.born("forward", "exp", "exp2", "expm1", "sinh", "cosh") or not incident.born_inf:
            return None
        limit = EXP_LIMIT.get(incident.dtype, 88.72)
        narrow = incident.dtype == "float16" and bool(incident.at(0)) and max(incident.at(0)) < EXP_LIMIT["float32"]
        shown = f" of {values(incident.at(0))}" if incident.at(0) else ""
        return Evidence(
            confidence=0.6 if narrow else 0.93,
            because=(
                f"{incident.op} takes the exponential{shown}, which {incident.dtype or 'this dtype'} can hold up to "
                f"exp({limit:.4g}) only"
            ),
            remedies=self.remedies,
            against=("float32 would hold this value",) if narrow else (),
        )
