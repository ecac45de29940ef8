"""Inf - Inf, 0 * Inf or 0/0 of values that nothing explains further."""

from __future__ import annotations

import math
from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence

FORMS = {
    "inf-inf": "subtracts Inf from Inf",
    "0*inf": "multiplies 0 by Inf",
    "0/0": "divides 0 by 0",
    "domain": "is not defined for its arguments",
}

CONSTANTS = frozenset({"fill", "masked_fill", "index_fill", "full", "full_like", "new_full", "scalar_tensor"})
"""Base names of ops that put a constant into memory."""
WRITES = (
    (
        "look at this line: it puts a non-finite constant into a tensor that the loss then reads; write a finite "
        "value, or keep that tensor out of the loss"
    ),
    "if the constant marks what is missing, leave it out where the loss is computed: loss[mask].mean()",
)


MASKED = (
    "write the infinity where the mask says so: scores.masked_fill(mask == 0, -inf), or torch.where; a product with it "
    "is NaN wherever the mask is 0",
    "or multiply by a large finite number (-1e9)",
)


class IndeterminateForm(Cause):
    """The arithmetic has no answer; which wider fault led there is not known."""

    kind: ClassVar[str] = "indeterminate_form"
    fallback: ClassVar[bool] = True
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor", "clamp-argument")
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the arguments of this op finite and away from 0: clamp them, or add an eps",
        "look at the inputs: `debug-tracer report RUN --batch`",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """Every birth of such a form; stays below every cause that knows why."""
        if incident.facts.birth is None:
            return None
        if is_product(incident):
            return Evidence(
                confidence=0.85,
                because=f"{incident.op} multiplies by the number {float(incident.birth.number or 0):g}, and 0 times "
                "Inf is NaN",
                remedies=MASKED,
            )
        if incident.birth.kind not in FORMS:
            return None
        made = written(incident)
        if made:
            return Evidence(
                confidence=0.6, because=f"the program itself writes {made} there ({incident.op})", remedies=WRITES
            )
        return Evidence(
            confidence=0.45,
            because=f"{incident.op} {FORMS[incident.birth.kind]}",
            remedies=self.remedies,
        )


def is_product(incident: IncidentEvidence) -> bool:
    """Whether the op multiplied by an infinite number of the program, and finite tensors gave NaN."""
    number, out = incident.birth.number, incident.birth.output
    return (
        number is not None
        and math.isinf(float(number))
        and out is not None
        and out.nan > 0
        and "mul" in incident.ops
        and incident.birth.direction != "update"
    )


def written(incident: IncidentEvidence) -> str:
    """Return `Inf` or `NaN` where the op only writes a constant and computes nothing, so that no domain can be left;
    else ""."""
    if not incident.ops & CONSTANTS:
        return ""
    out = incident.birth.output
    if out is not None and (out.nan or out.posinf or out.neginf):
        return "NaN" if out.nan else "Inf"
    worst = incident.birth.chain[0] if incident.birth.chain else None
    return (
        "NaN"
        if worst is not None and worst.nan
        else "Inf"
        if worst is not None and worst.inf
        else "a non-finite constant"
    )
