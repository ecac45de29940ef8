"""The logged loss is the true loss times the loss scale."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.logging.loss_scale_leak import LossScaleLeak
from debugtracer.trace.finding import Layer


class LogLossScaleLeak(Cause):
    """The name of the loss is bound to what scaler.scale returns, and logged after that; training itself is right."""

    kind: ClassVar[str] = "log_loss_scale_leak"
    layer: ClassVar[Layer] = "logging"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff",)
    remedies: ClassVar[tuple[str, ...]] = LossScaleLeak.remedies
