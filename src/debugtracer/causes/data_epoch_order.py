"""Samples come in the same or in sorted order."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataEpochOrder(Cause):
    """Without a shuffle neighbouring batches resemble each other; the gradient points one way for many steps."""

    kind: ClassVar[str] = "data_epoch_order"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("reordered-batches", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/class-skew",)
    rewrites: ClassVar[tuple[str, ...]] = ("shuffle",)
    remedies: ClassVar[tuple[str, ...]] = (
        "DataLoader(..., shuffle=True)",
        "with a DistributedSampler: sampler.set_epoch(epoch) at the begin of each epoch",
    )
