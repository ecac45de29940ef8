"""Gradients are not cleared between updates."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class StaleGradients(Cause):
    """backward adds to .grad: without zero_grad each update applies the sum of all batches so far."""

    kind: ClassVar[str] = "stale_gradients"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "other-batch", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = (
        "optimizer/loss-spike",
        "optimizer/exploding-grad",
        "optimizer/loss-divergence",
    )
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/accum-scaling",)
    rewrites: ClassVar[tuple[str, ...]] = ("zero-grad",)
    remedies: ClassVar[tuple[str, ...]] = (
        "optimizer.zero_grad() before the first backward of each update",
        "clear what the optimizer holds, not only what the module holds",
    )
