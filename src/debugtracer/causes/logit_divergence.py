"""Logits grow without a bound."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class LogitDivergence(Cause):
    """Nothing in cross-entropy holds log Z: the scores drift away from 0 until they saturate or overflow."""

    kind: ClassVar[str] = "logit_divergence"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("other-batch", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-divergence", "model/attention-scores")
    remedies: ClassVar[tuple[str, ...]] = (
        "add a z-loss: loss + 1e-4 * logits.logsumexp(-1).square().mean()",
        "lower the learning rate of the last layer",
        "normalise what goes into the last layer",
    )
