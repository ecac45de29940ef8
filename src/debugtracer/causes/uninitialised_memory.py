"""Memory was read that nobody had written."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer


class UninitialisedMemory(Cause):
    """torch.empty (or new_empty, empty_like) was used before it was filled."""

    kind: ClassVar[str] = "bad_init"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("uninitialised",)
    uses_findings: ClassVar[bool] = False
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("reinit-layer", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("allocated",)
    remedies: ClassVar[tuple[str, ...]] = (
        "use torch.zeros, or fill the tensor before its first use",
        "initialise every nn.Parameter(torch.empty(...)) with an nn.init function",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """The birth is a read of memory that was allocated and not filled."""
        if incident.facts.birth is None or incident.birth.kind != "uninitialised":
            return None
        return Evidence(
            confidence=0.85,
            because=f"{incident.op} reads memory that torch.empty allocated and nobody filled",
            remedies=self.remedies,
        )
