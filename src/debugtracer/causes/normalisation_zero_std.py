"""A standard deviation used as a divisor is zero."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer

SPREADS = ("std", "var", "std_mean", "var_mean", "std_dev")


class NormalisationZeroStd(Cause):
    """(x - mean) / std of a constant feature is 0/0."""

    kind: ClassVar[str] = "normalisation_zero_std"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("spread",)
    layer: ClassVar[Layer] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "older-weights")
    supports: ClassVar[tuple[str, ...]] = ("data/constant-feature", "numerics/nan-loss")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor",)
    remedies: ClassVar[tuple[str, ...]] = (
        "divide by std.clamp_min(1e-6), or leave constant features out",
        "take mean and standard deviation over the training set once, not over each batch or sample",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A forward division by 0 whose divisor is a standard deviation."""
        if (
            not incident.born("forward", "div", "true_divide")
            or any(v != 0 for v in incident.at(1))
            or not incident.made_by(1, *SPREADS)
        ):
            return None
        return Evidence(
            confidence=0.9,
            because=f"{incident.op} divides by a standard deviation that is 0: the values are constant",
            remedies=self.remedies,
        )
