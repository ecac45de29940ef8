"""Ranks train on the same samples."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DdpDuplicateData(Cause):
    """Without a DistributedSampler each rank walks over the whole data set in the same order."""

    kind: ClassVar[str] = "ddp_duplicate_data"
    layer: ClassVar[Layer] = "device"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("device/rank-skew",)
    remedies: ClassVar[tuple[str, ...]] = (
        "DataLoader(..., sampler=DistributedSampler(data)) and sampler.set_epoch(epoch)",
        "a different seed on each rank for random crops and the like",
    )
