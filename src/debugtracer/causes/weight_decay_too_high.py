"""Weight decay pulls harder than the gradient."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.optimizer.decay_dominates import DecayDominates
from debugtracer.trace.finding import Layer


class WeightDecayTooHigh(Cause):
    """The weights shrink towards 0 faster than the loss can move them away from it."""

    kind: ClassVar[str] = "weight_decay_too_high"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    proved_by_training: ClassVar[tuple[str, ...]] = ("without-decay",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/decayed-gains", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = DecayDominates.remedies
