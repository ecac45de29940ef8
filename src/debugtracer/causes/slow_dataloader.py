"""Steps wait for data."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class SlowDataloader(Cause):
    """The time between two steps goes into the loader: decoding, small files, no workers. The numbers are right."""

    kind: ClassVar[str] = "slow_dataloader"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/padding-waste",)
    contradicts: ClassVar[tuple[str, ...]] = ("device/host-sync",)
    remedies: ClassVar[tuple[str, ...]] = (
        "DataLoader(..., num_workers=4, persistent_workers=True, prefetch_factor=4), and pin_memory=True for a GPU",
        "do once what is done for each sample: decode and resize ahead of training",
        "measure the dataset alone: time one pass of `for batch in loader: pass`",
    )
