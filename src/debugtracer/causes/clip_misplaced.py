"""Gradients are clipped after they were applied."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class ClipMisplaced(Cause):
    """clip_grad_norm_ behind step() changes gradients that nobody uses any more."""

    kind: ClassVar[str] = "clip_misplaced"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("clipped-gradient", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/exploding-grad", "optimizer/loss-spike")
    remedies: ClassVar[tuple[str, ...]] = ("move clip_grad_norm_ between backward and optimizer.step()",)
