"""The losses of an accumulation are divided by the wrong number, or not at all."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.optimizer.accum_scaling import AccumScaling
from debugtracer.trace.finding import Layer


class AccumulationUnscaled(Cause):
    """Gradients are another multiple of the mean over the microbatches than the rate was chosen for."""

    kind: ClassVar[str] = "accumulation_unscaled"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/clip-share",)
    remedies: ClassVar[tuple[str, ...]] = AccumScaling.remedies
