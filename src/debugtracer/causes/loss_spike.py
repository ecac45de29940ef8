"""The loss jumped and nothing known explains it."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class LossSpike(Cause):
    """A finite jump for one or a few steps; what made it must be asked of the batch, the update and the machine."""

    kind: ClassVar[str] = "loss_spike"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = (
        "without-sample",
        "other-batch",
        "fresh-moments",
        "lower-lr",
        "older-weights",
    )
    supports: ClassVar[tuple[str, ...]] = ("optimizer/exploding-grad", "optimizer/second-moment-lag")
    remedies: ClassVar[tuple[str, ...]] = (
        "replay it: `debug-tracer replay INCIDENT` tells batch, state and machine apart",
        "clip the gradient: torch.nn.utils.clip_grad_norm_(params, 1.0)",
    )
