"""A weight, buffer or kept gradient was already bad when the step began."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer

LOADED = "check the file or the init: torch.isfinite over every tensor of the state dict right after loading"


class WeightsNonfinite(Cause):
    """The step inherits a non-finite parameter, buffer, optimizer state or uncleared gradient."""

    kind: ClassVar[str] = "weights_nonfinite"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("older-weights",)
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "without-sample", "other-batch", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "start again from the last finite checkpoint, under `debug-tracer run --mode dev`, which holds the update "
            "that first goes bad"
        ),
        "never save a checkpoint whose weights are not finite",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """The first bad tensor is one that the program itself kept from before."""
        name = incident.birth.input_name or ""
        if incident.birth.kind != "input" or not name.startswith(("parameter", "buffer", "gradient", "state")):
            return None
        first = incident.facts.ref.iteration == 0
        origin = (
            "before the first step: a checkpoint or an initialisation made it"
            if first
            else "when the step began: an earlier step made it"
        )
        return Evidence(
            confidence=0.75,
            because=f"{name} was already non-finite {origin}",
            remedies=(LOADED, self.remedies[1]) if first else self.remedies,
        )
