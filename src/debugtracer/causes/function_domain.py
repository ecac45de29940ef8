"""A function was asked outside its domain."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence, base, values

DOMAIN = {
    "sqrt": ("numbers >= 0", "clamp the argument: torch.sqrt(x.clamp_min(0)), with an eps inside if it is trained"),
    "rsqrt": ("numbers > 0", "add eps inside: torch.rsqrt(x + eps)"),
    "acos": ("[-1, 1]", "clamp the argument: x.clamp(-1 + 1e-6, 1 - 1e-6)"),
    "asin": ("[-1, 1]", "clamp the argument: x.clamp(-1 + 1e-6, 1 - 1e-6)"),
    "acosh": ("numbers >= 1", "clamp the argument: x.clamp_min(1 + 1e-6)"),
    "atanh": ("(-1, 1)", "clamp the argument: x.clamp(-1 + 1e-6, 1 - 1e-6)"),
    "logit": ("(0, 1)", "pass eps: torch.logit(x, eps=1e-6)"),
    "erfinv": ("(-1, 1)", "clamp the argument: x.clamp(-1 + 1e-6, 1 - 1e-6)"),
    "lgamma": ("numbers that are not 0, -1, -2, ...", "clamp the argument: x.clamp_min(1e-6)"),
    "digamma": ("numbers that are not 0, -1, -2, ...", "clamp the argument: x.clamp_min(1e-6)"),
    "linalg_cholesky_ex": ("positive definite matrices", "add jitter to the diagonal before the factorisation"),
}

RECORD = "look at the record of that sample and at the line that makes its target or input: the number comes from there"


class FunctionDomain(Cause):
    """sqrt of a negative number, acos beyond 1, atanh at 1: NaN or Inf in the forward."""

    kind: ClassVar[str] = "function_domain"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("domain", "unknown")
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("clamp-argument",)
    remedies: ClassVar[tuple[str, ...]] = (
        "clamp the argument into the domain of the function",
        "find out why the argument went there: `debug-tracer report RUN --batch`",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A birth in the forward of one of these functions, without overflow."""
        name = base(incident.birth.op)
        if not incident.born("forward") or name not in DOMAIN or incident.birth.kind == "overflow":
            return None
        domain, remedy = DOMAIN[name]
        shown = f" of {values(incident.at(0))}" if incident.at(0) else ""
        return Evidence(
            confidence=0.9 if shown else 0.75,
            because=f"{name}{shown} is not a number: it is defined for {domain}{given(incident)}",
            remedies=(RECORD, remedy) if incident.facts.held_in else (remedy, self.remedies[1]),
            seen=bool(shown),
        )


def given(incident: IncidentEvidence) -> str:
    """Say which tensor of the batch holds the number as it is: no line of the step has made it."""
    held = incident.facts.held_in
    return f", and {held} holds that number as the loader gave it" if held else ""
