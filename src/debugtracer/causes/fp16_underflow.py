"""Gradients are too small for float16."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause


class Fp16Underflow(Cause):
    """Below 6e-8 float16 is 0: the small gradients vanish, the layers that have only such learn nothing."""

    kind: ClassVar[str] = "fp16_underflow"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "loss-scale")
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "lower-lr", "clipped-gradient")
    supports: ClassVar[tuple[str, ...]] = ("model/vanishing-gradient",)
    contradicts: ClassVar[tuple[str, ...]] = ("numerics/half-headroom",)
    remedies: ClassVar[tuple[str, ...]] = (
        "scale the loss: torch.amp.GradScaler, or a larger init_scale",
        "use bfloat16, which has the range of float32",
    )
