"""The epsilon of a normalisation vanishes in the working dtype."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence

NORMS = {
    "native_layer_norm",
    "layer_norm",
    "native_group_norm",
    "native_batch_norm",
    "batch_norm",
    "cudnn_batch_norm",
    "rms_norm",
    "fused_rms_norm",
}


class NormEpsUnderflow(Cause):
    """In float16 every eps below 3e-8 is 0, so x / (norm + 1e-8) or rsqrt(var + 1e-8) divides by 0; so does eps=0 in
    any dtype."""

    kind: ClassVar[str] = "norm_eps_underflow"
    proved_by: ClassVar[tuple[str, ...]] = ("larger-eps", "stable-op", "full-precision")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("larger-eps", "guard-divisor")
    remedies: ClassVar[tuple[str, ...]] = (
        "normalise in float32: x.float() before the norm, back to half after it",
        "use an eps that the dtype can hold: 1e-4 in float16 (its smallest normal value is 6e-5), 1e-5 in float32",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A non-finite normalisation of finite numbers, or a division by 0 or rsqrt(0) in float16."""
        if not incident.born("forward") or incident.birth.kind in ("overflow", "uninitialised"):
            return None
        half = incident.dtype == "float16"
        norm = bool(incident.ops & NORMS) and not any(t.nan or t.posinf or t.neginf for t in incident.birth.inputs[:1])
        root = half and bool(incident.ops & {"rsqrt"})
        divided = half and "div" in incident.ops and bool(incident.at(1)) and not any(incident.at(1))
        if not norm and not root and not divided:
            return None
        sure = divided and incident.made_by(
            1, "add", "clamp", "clamp_min", "clip", "linalg_vector_norm", "norm", "sqrt", "normalize"
        )
        what = (
            "float16, where any eps below 3e-8 is 0"
            if half
            else f"{incident.dtype or 'its dtype'}: the values are constant and eps is 0 or too small"
        )
        return Evidence(
            confidence=0.93 if sure else (0.6 if divided else 0.8),
            because=f"{incident.op} divides by 0 in {what}",
            remedies=(
                self.remedies[0] if half else "give the normalisation its eps back: 1e-5",
                self.remedies[1],
            ),
        )
