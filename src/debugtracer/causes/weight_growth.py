"""Weights grow steadily."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class WeightGrowth(Cause):
    """The loss rewards large weights, or nothing opposes them; effective steps shrink and scores saturate."""

    kind: ClassVar[str] = "weight_growth"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "full-precision")
    supports: ClassVar[tuple[str, ...]] = ("model/logit-divergence", "model/activation-growth")
    remedies: ClassVar[tuple[str, ...]] = (
        "decay the matrices: AdamW(..., weight_decay=0.1)",
        "check the sign of each term of the loss",
    )
