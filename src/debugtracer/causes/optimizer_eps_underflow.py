"""The epsilon of the optimizer vanishes in the dtype of the parameters."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import SMALLEST, IncidentEvidence, plain_dtype
from debugtracer.trace.finding import Layer


class OptimizerEpsUnderflow(Cause):
    """Adam divides by sqrt(v) + eps; in float16 eps = 1e-8 rounds to 0 and so does the square of a small gradient: 0/0
    or x/0."""

    kind: ClassVar[str] = "optimizer_eps_underflow"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("larger-eps", "full-precision", "other-optimizer")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/update-ratio", "numerics/nonfinite-parameter")
    rewrites: ClassVar[tuple[str, ...]] = ("larger-eps",)
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "keep the weights in float32 and compute in half: torch.autocast with a GradScaler, model.float() instead "
            "of model.half()"
        ),
        "use bfloat16 weights: eps = 1e-8 is representable there",
        "if the weights must stay float16: torch.optim.Adam(..., eps=1e-4)",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A division inside step() with an eps that is 0 in the parameter dtype (below half its least value)."""
        known = incident.facts.optimizer
        if not incident.born("update") or known is None:
            return None
        dtype = next((d for d in map(plain_dtype, known.param_dtypes) if d in ("float16", "bfloat16")), "")
        eps = None if known.eps is None else float(known.eps)
        vanishes = eps is not None and bool(dtype) and eps <= SMALLEST[dtype] / 2
        divides = bool(incident.ops & {"addcdiv", "div", "sqrt", "rsqrt", "reciprocal"}) or any(
            "adam" in op for op in incident.ops
        )
        if not divides or not (vanishes or eps == 0):
            return None
        what = f"eps = {eps:g} is 0 in {dtype}" if vanishes else "eps is 0"
        return Evidence(
            confidence=0.95 if vanishes else 0.8,
            because=(
                f"{known.kind} divides by sqrt(v) + eps in {incident.op}, and {what}, as is the square of a small "
                "gradient"
            ),
            remedies=(
                *self.remedies[:2],
                f"if the weights must stay float16: {known.kind}(..., eps=1e-4)",
            ),
        )
