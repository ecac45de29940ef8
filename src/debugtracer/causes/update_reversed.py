"""The updates climb the loss."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.optimizer.loss_climbed import LossClimbed as Said
from debugtracer.trace.finding import Layer


class UpdateReversed(Cause):
    """A sign is wrong: the gradient is added, the loss is negative, or the optimizer maximizes it."""

    kind: ClassVar[str] = "update_reversed"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-divergence", "optimizer/weight-norm-growth")
    remedies: ClassVar[tuple[str, ...]] = Said.remedies
