"""ReLU units are never active."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class DeadRelu(Cause):
    """A unit whose input is negative for every sample has gradient 0 and stays so."""

    kind: ClassVar[str] = "dead_relu"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("other-activation", "reinit-layer")
    proved_by_training: ClassVar[tuple[str, ...]] = ("fresh-weights",)
    refuted_by: ClassVar[tuple[str, ...]] = ("clipped-gradient", "fresh-moments", "full-precision")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau", "model/vanishing-gradient")
    remedies: ClassVar[tuple[str, ...]] = (
        "use LeakyReLU or GELU, or start the biases at 0",
        "lower the learning rate if the units died during training",
    )
