"""Weight decay shrinks gains and biases."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class WeightDecayOnNorms(Cause):
    """A normalisation gain near 0 silences its layer; decay pulls it there whatever the loss says."""

    kind: ClassVar[str] = "weight_decay_on_norms"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("other-optimizer", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "other-batch", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("model/vanishing-gradient", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = (
        "put gains and biases (parameters with one dimension) into a group with weight_decay=0",
    )
