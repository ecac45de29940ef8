"""A value beyond 65504 in half precision."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import EXP_LIMIT, IncidentEvidence


class Fp16Overflow(Cause):
    """float16 ends at 65504; the same op in float32 or bfloat16 is finite."""

    kind: ClassVar[str] = "fp16_overflow"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("half",)
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "loss-scale")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "lower-lr", "fresh-moments", "clipped-gradient")
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff", "numerics/nonfinite-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("as-float",)
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "run this op in float32: `with torch.autocast(device_type, enabled=False):` around it, with .float() on "
            "its inputs"
        ),
        "use bfloat16: same memory, range of float32",
        "scale before the product, not after: (q / d ** 0.5) @ k",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """An Inf out of a float16 op in any direction, not by a division by zero or a logarithm."""
        if (
            incident.facts.birth is None
            or incident.dtype != "float16"
            or not incident.born_inf
            or incident.birth.kind in ("domain", "0/0", "0*inf", "input")
        ):
            return None
        if incident.by_zero:
            return None
        wide = (
            bool(incident.ops & {"exp", "exp2", "expm1"})
            and bool(incident.at(0))
            and max(incident.at(0)) >= EXP_LIMIT["float32"]
        )
        out = incident.birth.output
        bad = out.posinf + out.neginf if out else 0
        count = f"{bad} elements of the result of {incident.op} lie" if bad > 1 else f"the result of {incident.op} lies"
        scale = incident.facts.optimizer.scale if incident.facts.optimizer else None
        scaled = (
            f", with the loss scaled by {float(scale):.0f}"
            if scale is not None and incident.birth.direction == "backward"
            else ""
        )
        return Evidence(
            confidence=0.3 if wide else 0.93,
            because=f"{count} beyond 65504, the end of float16{scaled}",
            remedies=self.remedies,
            against=("float32 would overflow here too",) if wide else (),
        )
