"""Parameters got no gradient in an iteration of DDP."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class DdpUnusedParams(Cause):
    """DDP waits for a gradient of each parameter; a branch that is not taken leaves some without."""

    kind: ClassVar[str] = "ddp_unused_params"
    layer: ClassVar[Layer] = "device"
    proved_by: ClassVar[tuple[str, ...]] = ("one-rank-alone", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("model/unused-param",)
    rewrites: ClassVar[tuple[str, ...]] = ("find-unused",)
    remedies: ClassVar[tuple[str, ...]] = (
        "DistributedDataParallel(model, find_unused_parameters=True)",
        "or let every parameter take part: loss + 0.0 * unused.sum()",
    )
