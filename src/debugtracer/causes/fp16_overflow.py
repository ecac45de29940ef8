"""A value beyond 65504 in half precision."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import EXP_LIMIT, Reading


class Fp16Overflow(Cause):
    """float16 ends at 65504; the same op in float32 or bfloat16 is finite."""

    kind: ClassVar[str] = "fp16_overflow"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "loss-scale")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "lower-lr", "fresh-moments", "clipped-gradient")
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff", "numerics/nonfinite-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("as-float",)
    remedies: ClassVar[tuple[str, ...]] = (
        "run this op in float32: `with torch.autocast(device_type, enabled=False):` around it, with .float() on its inputs",
        "use bfloat16: same memory, range of float32",
        "scale before the product, not after: (q / d ** 0.5) @ k",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """Inf out of an op in float16, in any direction; not a division by zero or a logarithm."""
        if seen.facts.birth is None or seen.dtype != "float16" or not seen.born_inf or seen.birth.kind in ("domain", "0/0", "0*inf", "input"):
            return None
        if seen.by_zero:
            return None
        wide = bool(seen.ops & {"exp", "exp2", "expm1"}) and bool(seen.at(0)) and max(seen.at(0)) >= EXP_LIMIT["float32"]
        out = seen.birth.output
        bad = out.posinf + out.neginf if out else 0
        count = f"{bad} elements of the result of {seen.op} lie" if bad > 1 else f"the result of {seen.op} lies"
        scale = seen.facts.optimizer.scale if seen.facts.optimizer else None
        scaled = f", with the loss scaled by {float(scale):.0f}" if scale is not None and seen.birth.direction == "backward" else ""
        return Signs(
            confidence=0.3 if wide else 0.93,
            because=f"{count} beyond 65504, the end of float16{scaled}",
            remedies=self.remedies,
            against=("float32 would overflow here too",) if wide else (),
        )
