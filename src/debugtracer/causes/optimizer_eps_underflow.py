"""The epsilon of the optimizer vanishes in the dtype of the parameters."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Signs
from debugtracer.causes.reading import SMALLEST, Reading, plain_dtype
from debugtracer.trace.finding import Layer


class OptimizerEpsUnderflow(Cause):
    """Adam divides by sqrt(v) + eps; in float16 eps = 1e-8 rounds to 0 and so does the square of a small gradient: 0/0 or x/0."""

    kind: ClassVar[str] = "optimizer_eps_underflow"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("larger-eps", "full-precision", "other-optimizer")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/update-ratio", "numerics/nonfinite-parameter")
    rewrites: ClassVar[tuple[str, ...]] = ("larger-eps",)
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the weights in float32 and compute in half: torch.autocast with a GradScaler, model.float() instead of model.half()",
        "use bfloat16 weights: eps = 1e-8 is representable there",
        "if the weights must stay float16: torch.optim.Adam(..., eps=1e-4)",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """Born inside step(), in a division, while eps is below half the smallest positive value of the parameter dtype."""
        known = seen.facts.optimizer
        if not seen.born("update") or known is None:
            return None
        dtype = next((d for d in map(plain_dtype, known.param_dtypes) if d in ("float16", "bfloat16")), "")
        eps = None if known.eps is None else float(known.eps)
        vanishes = eps is not None and bool(dtype) and eps <= SMALLEST[dtype] / 2
        divides = bool(seen.ops & {"addcdiv", "div", "sqrt", "rsqrt", "reciprocal"}) or any("adam" in op for op in seen.ops)
        if not divides or not (vanishes or eps == 0):
            return None
        what = f"eps = {eps:g} is 0 in {dtype}" if vanishes else "eps is 0"
        return Signs(
            confidence=0.95 if vanishes else 0.8,
            because=f"{known.kind} divides by sqrt(v) + eps in {seen.op}, and {what}, as is the square of a small gradient",
            remedies=(
                *self.remedies[:2],
                f"if the weights must stay float16: {known.kind}(..., eps=1e-4)",
            ),
        )
