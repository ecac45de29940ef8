"""A feature changes its scale while training runs."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataScaleDrift(Cause):
    """Later samples come in another unit or from another source; the weights have learnt the old scale."""

    kind: ClassVar[str] = "data_scale_drift"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "other-batch", "reordered-batches")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments", "older-weights")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-spike", "data/range-extreme")
    contradicts: ClassVar[tuple[str, ...]] = ("data/unnormalised",)
    remedies: ClassVar[tuple[str, ...]] = (
        "normalise with the statistics of the training set, for each source of its own if they differ",
        "shuffle over all files",
    )
