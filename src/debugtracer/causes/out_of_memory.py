"""The device has no memory left."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class OutOfMemory(Cause):
    """A tensor or the sum of all that is held does not fit."""

    kind: ClassVar[str] = "out_of_memory"
    layer: ClassVar[Layer] = "device"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("logging/held-graph", "device/memory-growth")
    remedies: ClassVar[tuple[str, ...]] = (
        "smaller batches with gradient accumulation",
        "activation checkpointing, bfloat16",
        "find what is kept from step to step: losses with their graph, lists of outputs",
    )
