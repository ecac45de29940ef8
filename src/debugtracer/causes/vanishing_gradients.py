"""Gradients die out before the first layers."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class VanishingGradients(Cause):
    """A sigmoid multiplies the gradient by at most 1/4, a saturated tanh by nearly 0, at each layer: the first layers
    hardly learn."""

    kind: ClassVar[str] = "vanishing_gradients"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("other-activation", "standard-module", "reinit-layer")
    refuted_by: ClassVar[tuple[str, ...]] = ("clipped-gradient", "fresh-moments", "full-precision")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau", "model/saturated-activation")
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/exploding-grad",)
    remedies: ClassVar[tuple[str, ...]] = (
        "replace sigmoid and tanh between layers by ReLU or GELU",
        "add residual connections: x = x + block(x), and a normalisation layer before each block",
        "initialise for the activation: nn.init.xavier_normal_ for tanh, kaiming_normal_ for ReLU",
    )
