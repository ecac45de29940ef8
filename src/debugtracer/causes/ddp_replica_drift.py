"""Replicas stop being equal."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class DdpReplicaDrift(Cause):
    """The inner module is called, a rank is seeded or clipped alone, a buffer is not synchronised: each rank trains a
    model of its own."""

    kind: ClassVar[str] = "ddp_replica_drift"
    layer: ClassVar[Layer] = "device"
    proved_by: ClassVar[tuple[str, ...]] = ("one-rank-alone", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("device/rank-skew",)
    remedies: ClassVar[tuple[str, ...]] = (
        "call the wrapper, model(x), never model.module(x) in training",
        "start from one state: DDP broadcasts it when it is built; load checkpoints before that",
    )
