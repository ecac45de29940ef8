"""A value lies far beyond all before."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataRangeExtreme(Cause):
    """A record in another unit, a corrupt one, a fill value like 1e20: its gradient drowns that of all others."""

    kind: ClassVar[str] = "data_range_extreme"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("overflow",)
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("fresh-moments", "older-weights")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-spike", "optimizer/exploding-grad", "data/outlier-sample")
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump",)
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the sample and repair its unit: `debug-tracer report RUN --batch`",
        "clip or scale robustly where the dataset makes the sample",
        "drop it",
    )
