"""A running average keeps hardly anything but its last value."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.model.statistics_leap import StatisticsLeap
from debugtracer.trace.finding import Layer


class AverageForgets(Cause):
    """Its momentum or decay is that of a convention which counts the other way round, so that what is evaluated
    depends on the batch that came last."""

    kind: ClassVar[str] = "average_forgets"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/metric-oscillation", "model/tiny-norm-batch")
    remedies: ClassVar[tuple[str, ...]] = StatisticsLeap.remedies
