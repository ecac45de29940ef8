"""Every target of the batch belongs to classes whose weight is zero."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.labels_all_ignored import LOSSES


class ClassWeightsZero(Cause):
    """cross_entropy(weight=...) with reduction="mean" divides by the sum of the weights of the targets."""

    kind: ClassVar[str] = "zero_division"
    uses_findings: ClassVar[bool] = False
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "lower-lr", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = (
        "give every class a positive weight, or leave its samples out in the dataset",
        'divide by the clamped sum: cross_entropy(..., reduction="sum") / weight[target].sum().clamp_min(1e-8)',
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A NaN out of a weighted nll loss, from finite inputs, with a class weight of 0."""
        if not incident.born("forward", *LOSSES):
            return None
        floats = [t for t in incident.birth.inputs if "float" in t.dtype]
        if len(floats) < 2 or floats[0].nan or floats[0].posinf or floats[1].low is None or float(floats[1].low) != 0:
            return None
        return Evidence(
            confidence=0.8,
            because=f"the class weights of all targets of the batch are 0, so the mean in {incident.op} divides 0 by 0",
            remedies=self.remedies,
            whole_batch=True,
        )
