"""exp beyond the range of the dtype."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import EXP_LIMIT, Reading, values


class ExpOverflow(Cause):
    """exp(x) is Inf for x > 88.7 in float32 and bfloat16, for x > 11.1 in float16."""

    kind: ClassVar[str] = "exp_overflow"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("clamp-argument",)
    remedies: ClassVar[tuple[str, ...]] = (
        "bound the exponent: x.clamp(max=20), or softplus(x) where exp(x) only has to be positive",
        "normalise in log space: logsumexp, log_softmax subtract the maximum first",
        "find out why the exponent grew: a high learning rate, an input out of scale (`debug-tracer report RUN --batch`)",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """A forward exp with Inf out."""
        if not seen.born("forward", "exp", "exp2", "expm1", "sinh", "cosh") or not seen.born_inf:
            return None
        limit = EXP_LIMIT.get(seen.dtype, 88.72)
        narrow = seen.dtype == "float16" and bool(seen.at(0)) and max(seen.at(0)) < EXP_LIMIT["float32"]
        shown = f" of {values(seen.at(0))}" if seen.at(0) else ""
        return Signs(
            confidence=0.6 if narrow else 0.93,
            because=f"{seen.op} takes the exponential{shown}, which {seen.dtype or 'this dtype'} can hold up to exp({limit:.4g}) only",
            remedies=self.remedies,
            against=("float32 would hold this value",) if narrow else (),
        )
