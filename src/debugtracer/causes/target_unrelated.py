"""The target has nothing to do with the input."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.target_drawn import TargetDrawn
from debugtracer.trace.finding import Layer


class TargetUnrelated(Cause):
    """A fresh random draw is asked for, so the best that the model can learn is its mean."""

    kind: ClassVar[str] = "target_unrelated"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = TargetDrawn.remedies
