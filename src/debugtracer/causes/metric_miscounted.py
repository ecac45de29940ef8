"""A metric is not of the data that it is told of."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class MetricMiscounted(Cause):
    """A loss or a share of right answers is summed over more or fewer rows than it is divided by: counts of former
    passes, of the last batch alone, or the length of another data set. Training itself is unharmed."""

    kind: ClassVar[str] = "metric_miscounted"
    layer: ClassVar[Layer] = "logging"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = (
        "set counts to 0 before each pass, add to them in each batch, and divide by the rows that were counted",
    )
