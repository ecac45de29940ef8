"""An average of the weights stays near its first values."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.optimizer import average_lags
from debugtracer.trace.finding import Layer


class AverageLags(Cause):
    """What is evaluated and kept is nearly the untrained network: its decay is too near to 1 for the run."""

    kind: ClassVar[str] = "average_lags"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/validation-gap",)
    remedies: ClassVar[tuple[str, ...]] = average_lags.AverageLags.remedies
