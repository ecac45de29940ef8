"""The loss has no least value."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.optimizer.loss_unbounded import LossUnbounded as Said
from debugtracer.trace.finding import Layer


class LossUnbounded(Cause):
    """A term with the wrong sign is rewarded without end: the others are drowned and the weights run away."""

    kind: ClassVar[str] = "loss_unbounded"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-divergence", "optimizer/weight-norm-growth")
    remedies: ClassVar[tuple[str, ...]] = Said.remedies
