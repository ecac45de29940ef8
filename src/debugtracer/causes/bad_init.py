"""The initial weights cannot be trained from."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class BadInit(Cause):
    """Equal rows learn the same thing, all-zero layers pass no gradient, a wrong size saturates or kills what
    follows."""

    kind: ClassVar[str] = "bad_init"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("reinit-layer",)
    proved_by_training: ClassVar[tuple[str, ...]] = ("fresh-weights",)
    refuted_by: ClassVar[tuple[str, ...]] = ("other-batch", "full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("model/vanishing-gradient", "model/dead-units", "optimizer/loss-plateau")
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump",)
    remedies: ClassVar[tuple[str, ...]] = (
        'initialise for the activation: nn.init.kaiming_normal_(w, nonlinearity="relu"), xavier_normal_ for tanh',
        "leave the defaults of torch where nothing speaks against them",
        "scale the last layer of each residual block by 1/sqrt(2 * layers)",
    )
