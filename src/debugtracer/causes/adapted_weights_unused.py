"""Weights of an inner loop are not those that the loss is computed with."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.model.adapted_unused import AdaptedUnused
from debugtracer.trace.finding import Layer


class AdaptedWeightsUnused(Cause):
    """An inner loop adapts weights, and the outer loss is computed with the weights before: nothing is learnt about
    adapting."""

    kind: ClassVar[str] = "adapted_weights_unused"
    layer: ClassVar[Layer] = "model"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = AdaptedUnused.remedies
