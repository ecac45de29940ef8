"""unscale_ is called twice in one update."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class AmpDoubleUnscale(Cause):
    """The second call would divide the gradients by the scale again; torch raises instead."""

    kind: ClassVar[str] = "amp_double_unscale"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = (
        "scaler.unscale_(optimizer) once, right before clipping, in the last microbatch only",
    )
