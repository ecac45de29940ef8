"""A weight, buffer or kept gradient was already bad when the step began."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Layer
from debugtracer.trace.incident import WeightWrite
from debugtracer.trace.place import Place

LOADED = "check the file or the init: torch.isfinite over every tensor of the state dict right after loading"
GUARDS = "keep what it is computed from in the domain: log and sqrt of what can be below 0, a divisor that can be 0"
SAVED = "never save a checkpoint whose weights are not finite"


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
        SAVED,
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """The first bad tensor is one that the program itself kept from before."""
        name = incident.birth.input_name or ""
        if incident.birth.kind != "input" or not name.startswith(("parameter", "buffer", "gradient", "state")):
            return None
        first, written = incident.facts.ref.iteration == 0, incident.written_here
        if written is not None:
            return by_own_line(name, written, first)
        if first and incident.facts.made:
            at = incident.facts.made[0]
            return Evidence(
                confidence=0.9,
                because=f"{name} was already non-finite before the first step{incident.made}",
                remedies=(f"{GUARDS}, at {file_line(at)}", SAVED),
                place=Place(param=name.removeprefix("parameter "), frame=at),
            )
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


def by_own_line(name: str, written: WeightWrite, first: bool, exact: bool = False) -> Evidence:
    """Name the line of the program that wrote the weight after the last update; exact where a replay has shown it."""
    at = file_line(written.frame)
    source = written.source
    made = f", with a value made at line {source.line}" if source is not None and source != written.frame else ""
    since = "before the first update" if first else "after the last update"
    return Evidence(
        confidence=0.97 if exact else 0.85,
        exact=exact,
        because=f"{name} is non-finite since the program itself wrote it ({written.op} at {at}{made}), {since}",
        remedies=(LOADED if first else f"look at the value that {at} writes, and at the lines that made it", SAVED),
        place=Place(param=name.removeprefix("parameter "), frame=written.frame),
    )
