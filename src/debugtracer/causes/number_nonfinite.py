"""A number that the program computes outside torch is NaN or Inf."""

from __future__ import annotations

import re
from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence

WRITTEN = re.compile(r"\b(?:inf|infty|nan|Infinity)\b", re.IGNORECASE)
"""The line of the op, or the one that makes the number, says Inf or NaN: it is meant."""


class NumberNonfinite(Cause):
    """A weight of a loss term, a rate or a factor is a Python number that is not finite; all tensors are."""

    kind: ClassVar[str] = "number_nonfinite"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision",)
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the number finite where it is computed: clamp what the root, power, logarithm or division is taken of",
        "say so at once: assert math.isfinite(value) behind the line that computes it",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """An op that was given such a number beside finite tensors."""
        birth = incident.birth
        line = birth.innermost.code if birth.innermost is not None else ""
        made = incident.facts.made[0].code if incident.facts.made else ""
        if birth.number is None or birth.direction == "update" or WRITTEN.search(line) or WRITTEN.search(made):
            return None
        return Evidence(
            confidence=0.9,  # the number may come from data that hold NaN
            because=f"{incident.op} is given the number {float(birth.number):g}, every tensor it reads is "
            f"finite{incident.made.replace(', made', '; the number is made')}",
            remedies=self.remedies,
            place=incident.made_place,
            whole_batch=True,
        )
