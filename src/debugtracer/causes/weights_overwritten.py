"""A line of the program copied a non-finite value into a weight within the step, and the replay has shown it."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.weights_nonfinite import by_own_line
from debugtracer.trace.finding import Layer


class WeightsOverwritten(Cause):
    """A value kept from before the step, a saved state or an average, is not finite and is written into the weights."""

    kind: ClassVar[str] = "weights_nonfinite"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "data"
    uses_findings: ClassVar[bool] = False
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("older-weights", "other-batch", "without-sample", "stable-op", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the value that the line writes, and at the lines that made it",
        "never save a checkpoint whose weights are not finite",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """The way from the first bad value to the loss passes a write of the program's own into a weight."""
        carried = incident.carried_into_weights
        if carried is None:
            return None
        return by_own_line(f"parameter {carried.params[0]}", carried, incident.facts.ref.iteration == 0, exact=True)
