"""Gradients are cleared before they are applied."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class GradientsCleared(Cause):
    """zero_grad between backward and step: the update applies nothing."""

    kind: ClassVar[str] = "gradients_cleared"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/no-update", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = ("move optimizer.zero_grad() before the forward, or after step()",)
