"""Gradients are clipped while they carry the loss scale."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class AmpClipScaledGrads(Cause):
    """A limit of 1 on gradients that are 65536 times too large leaves next to nothing after unscaling."""

    kind: ClassVar[str] = "amp_clip_scaled_grads"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/clip-share", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = ("scaler.unscale_(optimizer) before clip_grad_norm_",)
