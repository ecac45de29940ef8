"""Adam's second moment is behind the gradient, and an update is too large."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class AdamInstability(Cause):
    """v remembers small gradients for 1/(1-beta2) steps; a gradient that jumps meets a divisor that is too small."""

    kind: ClassVar[str] = "adam_instability"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("fresh-moments", "lower-lr", "other-optimizer", "older-weights")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-spike", "optimizer/update-ratio")
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump", "data/outlier-sample")
    rewrites: ClassVar[tuple[str, ...]] = ("lower-beta2",)
    remedies: ClassVar[tuple[str, ...]] = (
        "lower beta2: betas=(0.9, 0.95)",
        "clip the gradient: torch.nn.utils.clip_grad_norm_(params, 1.0)",
        "warm the learning rate up over 1/(1-beta2) steps",
    )
