"""What label smoothing would do, or does, to the loss of one recorded batch."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Smoothed(msgspec.Struct, frozen=True, kw_only=True):
    """One value of epsilon on the same logits and targets."""

    epsilon: float
    target_kl: float
    """KL divergence of the smoothed target from the one-hot one, nats: log of 1 / (1 - eps + eps/K)."""
    gradient_variance: float
    """Variance of the gradient of the mean loss with respect to the logits, over all elements."""


class LabelSmoothing(Fact, frozen=True, kw_only=True):
    """A cross entropy over class indices, on an inspected step."""

    KEEP = 16

    classes: int
    rows: int
    used: float
    """The label_smoothing of the call."""
    closed: int
    """Classes whose logit is -inf in some row that counts: their smoothed target makes the loss infinite."""
    table: tuple[Smoothed, ...]
    top_probability: float
    """Mean of the largest probability of a row."""
    accuracy: float
    frame: Frame | None = None
