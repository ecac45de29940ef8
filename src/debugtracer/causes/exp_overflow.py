"""exp beyond the range of the dtype."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import EXP_LIMIT, IncidentEvidence, base, calls, values

PRODUCTS = frozenset({"mm", "bmm", "matmul", "einsum", "dot", "inner", "baddbmm", "addmm"})
SIMILARITY = (
    "if these are similarities, normalise the vectors before the product: F.normalize(x, dim=-1) makes each at most "
    "1 / temperature",
    "take log of a quotient of exponentials in log space: cross_entropy of the scores, or logsumexp, subtracts the "
    "maximum first",
)


class ExpOverflow(Cause):
    """exp(x) is Inf for x > 88.7 in float32 and bfloat16, for x > 11.1 in float16."""

    kind: ClassVar[str] = "exp_overflow"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("exp",)
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("clamp-argument",)
    remedies: ClassVar[tuple[str, ...]] = (
        "bound the exponent: x.clamp(max=20), or softplus(x) where exp(x) only has to be positive",
        "normalise in log space: logsumexp, log_softmax subtract the maximum first",
        (
            "find out why the exponent grew: a high learning rate, an input out of scale (`debug-tracer report RUN "
            "--batch`)"
        ),
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A forward exp with Inf out."""
        if not incident.born("forward", "exp", "exp2", "expm1", "sinh", "cosh") or not incident.born_inf:
            return None
        limit = EXP_LIMIT.get(incident.dtype, 88.72)
        narrow = incident.dtype == "float16" and bool(incident.at(0)) and max(incident.at(0)) < EXP_LIMIT["float32"]
        shown = f" of {values(incident.at(0))}" if incident.at(0) else ""
        of_product = is_product(incident)
        shown += ", a product of vectors whose lengths nothing bounds" if shown and of_product else ""
        return Evidence(
            confidence=0.6 if narrow else 0.93,
            because=(
                f"{incident.op} takes the exponential{shown}, which {incident.dtype or 'this dtype'} can hold up to "
                f"exp({limit:.4g}) only"
            ),
            remedies=(*SIMILARITY, *self.remedies[2:]) if of_product else self.remedies,
            # a clamp at one line may leave Inf at another: that does not make the exponent small
            seen=not narrow and bool(incident.at(0)) and min(incident.at(0)) > limit,
            against=("float32 would hold this value",) if narrow else (),
        )


def is_product(incident: IncidentEvidence) -> bool:
    """Whether the exponent is a matrix product, or one that the line itself scales."""
    exponent, line = incident.tensor(0), incident.birth.innermost
    if exponent is None or len(exponent.shape) < 2:
        return False
    made = base(exponent.made_by)
    scaled = made in ("div", "mul") and line is not None and exponent.made_at in (None, line)
    product = line is not None and (bool(calls(line.code) & PRODUCTS) or " @ " in line.code)
    return made in PRODUCTS or (scaled and product)
