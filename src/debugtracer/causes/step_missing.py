"""Gradients are computed and never applied."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class StepMissing(Cause):
    """backward without optimizer.step(): the parameters of this optimizer never move."""

    kind: ClassVar[str] = "step_missing"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/no-update", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = ("optimizer.step() after the backward, for each optimizer",)
