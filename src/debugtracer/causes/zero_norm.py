"""A vector of zeros was divided by its norm."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence, base

DIVISIONS = ("div", "true_divide", "reciprocal")
WEIGHT_NORMS = ("weight_norm_interface", "weight_norm")
NORMS = ("linalg_vector_norm", "norm", "vector_norm")


class ZeroNorm(Cause):
    """x / x.norm() at x = 0 is 0/0; F.normalize and cosine_similarity guard against it with an eps."""

    kind: ClassVar[str] = "zero_norm"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("norm",)
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor",)
    remedies: ClassVar[tuple[str, ...]] = (
        "use torch.nn.functional.normalize(x, dim=-1): it divides by max(norm, eps)",
        "clamp the norm: x / x.norm(dim=-1, keepdim=True).clamp_min(1e-8)",
        "find out why the vector is zero: `debug-tracer report RUN --batch`",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A division of 0 by 0 whose divisor is a norm, or a root of a sum that stands for one."""
        if incident.born("forward", *WEIGHT_NORMS):
            return direction_of_zeros(incident)
        if not incident.born("forward", *DIVISIONS) and not incident.born("update", *DIVISIONS):
            return None
        place = 0 if incident.ops & {"reciprocal"} else 1
        if any(v != 0 for v in (*incident.at(0), *incident.at(place))):
            return None
        norm = incident.made_by(place, *NORMS)
        tensor = incident.tensor(place)
        root = tensor is not None and base(tensor.made_by) == "sqrt"
        if not norm and not root:
            return None
        return Evidence(
            confidence=0.92 if norm else 0.8,
            because=f"{incident.op} divides a vector of zeros by its norm, which is 0/0",
            remedies=self.remedies,
        )


def direction_of_zeros(incident: IncidentEvidence) -> Evidence | None:
    """A weight that is kept as direction and length, and whose direction is zeros where the output is bad."""
    direction = incident.at(0)
    if not direction or any(v != 0 for v in direction):
        return None
    return Evidence(
        confidence=0.95,
        because=f"weight_norm divides a direction of zeros by its norm, which is 0/0{incident.made}",
        remedies=(
            "set the length to 0 and leave the direction: layer.parametrizations.weight.original0 (weight_g)",
            "or begin with small random weights: nn.init.normal_(layer.weight, 0, 0.01)",
        ),
        place=incident.made_place,
    )
