"""The forward value is finite and its derivative is not."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence, base

# where the derivative is infinite although the value is finite, and what to write instead; tried on torch 2.13 (norm,
# std, cdist, atan2 are safe at 0)
DIVISIONS = ("div", "div_", "true_divide")
"""Ops of which the line that made the divisor 0 is known now and then."""
EDGES = {
    "sqrt": (
        "sqrt has an infinite derivative at 0",
        "add eps inside: torch.sqrt(x + 1e-12) (not outside: the derivative at 0 stays infinite)",
    ),
    "pow": ("x ** p with p < 1 has an infinite derivative at 0", "clamp the base: x.clamp_min(1e-8) ** p"),
    "acos": (
        "acos has an infinite derivative at -1 and 1",
        "clamp the argument: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    ),
    "asin": (
        "asin has an infinite derivative at -1 and 1",
        "clamp the argument: torch.asin(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    ),
    "acosh": ("acosh has an infinite derivative at 1", "clamp the argument: torch.acosh(x.clamp_min(1 + 1e-6))"),
    "hypot": ("hypot has no derivative at (0, 0)", "write torch.sqrt(x * x + y * y + 1e-12)"),
    "log": ("log has an infinite derivative at 0", "make the argument safe first: torch.log(torch.where(x > 0, x, 1))"),
    "xlogy": (
        "x * log(y) has an infinite derivative at y = 0",
        "clamp the argument of the logarithm: x * y.clamp_min(1e-8).log()",
    ),
    "special_entr": (
        "entr has an infinite derivative at 0",
        "clamp the argument of the logarithm: -(p * p.clamp_min(1e-8).log())",
    ),
    "logsumexp": (
        "logsumexp of a row that is all -inf has no derivative",
        "keep at least one finite score in every row",
    ),
    "linalg_svd": (
        "a singular vector has no derivative where singular values are equal",
        "use the singular values only, or break the tie with a little noise",
    ),
    "linalg_eigh": (
        "an eigenvector has no derivative where eigenvalues are equal",
        "use the eigenvalues only, or break the tie with a little noise",
    ),
}


class BackwardNanOp(Cause):
    """sqrt(0), acos(1), hypot(0, 0), or the branch that where() did not select: Inf, or 0 * Inf = NaN, appears in
    backward only."""

    kind: ClassVar[str] = "backward_nan_op"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("safe-branch", "clamp-argument")
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the argument away from the point where its derivative is infinite: add eps inside, or clamp it",
        (
            "behind where() or a mask: choose a safe argument before the op (a second where inside); 0 times an "
            "infinite derivative is NaN"
        ),
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A birth in backward that is not due to the range of the dtype."""
        if not incident.born("backward") or (incident.birth.kind == "overflow" and not incident.ops & set(EDGES)):
            return None
        name = base(incident.birth.op)
        why, remedy = EDGES.get(
            name,
            (
                f"the derivative of {name} is not finite here",
                "keep its argument away from the point where its derivative is infinite",
            ),
        )
        ran = (
            f" (computed by {base(incident.birth.backward_op)})"
            if base(incident.birth.backward_op) not in ("", name)
            else ""
        )
        divides = name in DIVISIONS
        made = incident.made.replace(", made", "; what it divides by is made 0") if divides else ""
        return Evidence(
            confidence=0.92 if name in EDGES else 0.75,
            because=f"the value of {incident.op} is finite but its derivative{ran} is not: {why}{made}",
            place=incident.made_place if divides else None,
            remedies=(
                remedy,
                self.remedies[1],
            ),
        )
