"""A vector of zeros was divided by its norm."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import Reading, base

DIVISIONS = ("div", "true_divide", "reciprocal")
NORMS = ("linalg_vector_norm", "norm", "vector_norm")


class ZeroNorm(Cause):
    """x / x.norm() at x = 0 is 0/0; F.normalize and cosine_similarity guard against it with an eps."""

    kind: ClassVar[str] = "zero_norm"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor",)
    remedies: ClassVar[tuple[str, ...]] = (
        "use torch.nn.functional.normalize(x, dim=-1): it divides by max(norm, eps)",
        "clamp the norm: x / x.norm(dim=-1, keepdim=True).clamp_min(1e-8)",
        "find out why the vector is zero: `debug-tracer report RUN --batch`",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """A division of 0 by 0 whose divisor is a norm, or a root of a sum that stands for one."""
        if not seen.born("forward", *DIVISIONS) and not seen.born("update", *DIVISIONS):
            return None
        place = 0 if seen.ops & {"reciprocal"} else 1
        if any(v != 0 for v in (*seen.at(0), *seen.at(place))):
            return None
        norm = seen.made_by(place, *NORMS)
        tensor = seen.tensor(place)
        root = tensor is not None and base(tensor.made_by) == "sqrt"
        if not norm and not root:
            return None
        return Signs(
            confidence=0.92 if norm else 0.8,
            because=f"{seen.op} divides a vector of zeros by its norm, which is 0/0",
            remedies=self.remedies,
        )
