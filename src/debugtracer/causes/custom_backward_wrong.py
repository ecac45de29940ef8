"""A hand-written backward made the bad value."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.birth import Frame
from debugtracer.trace.verdict import Change


class CustomBackwardWrong(Cause):
    """The `backward` of a user's autograd.Function divides by 0, leaves a domain or overflows; autograd's own
    derivative may be finite."""

    kind: ClassVar[str] = "custom_backward_wrong"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor", "clamp-argument")
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "guard the formula where its divisor is 0 or its argument leaves the domain: torch.where on the argument, "
            "or clamp_min(eps)"
        ),
        (
            "compare it with autograd: torch.autograd.gradcheck(Function.apply, inputs in float64), with inputs at the "
            "edge (0, equal values)"
        ),
        "drop the hand-written backward if autograd can derive the forward",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A birth in backward, on a line of a Python function called `backward` (or `vjp`)."""
        frame = incident.birth.innermost
        if not incident.born("backward") or frame is None or frame.function.split(".")[-1] not in ("backward", "vjp"):
            return None
        return Evidence(
            confidence=0.94,
            because=f"{incident.op} inside a hand-written backward gives a value that is not finite",
            remedies=self.remedies,
        )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """A guard where a value was not finite; a finite gradient that is wrong has no edit that we know."""
        return None if isinstance(evidence, FindingEvidence) else super().change(evidence, frame, value)
