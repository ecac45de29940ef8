"""Clipping: its limit, and norms that are not finite."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ClippedNonfinite(Fact, frozen=True, kw_only=True):
    """clip_grad_norm_ measured NaN or an infinite norm and went on."""

    ABOUT = "gradient clipping"
    KEEP = 4

    frame: Frame | None
    norm: Number
    scaled: bool
    """A GradScaler decides about this update and skips it."""


class ClipLimit(Fact, frozen=True, kw_only=True):
    """Gradients are clipped to this norm from here on; emitted when it changes."""

    ABOUT = "gradient clipping"
    KEEP = 4

    limit: float
    frame: Frame | None = None
    model: Literal["", "attention", "recurrent"] = ""
    """What the models seen in training hold: recurrent layers before attention; "" for neither."""


class ClippedNothing(Fact, frozen=True, kw_only=True):
    """In a loop without an optimizer: two clips running came after the gradients were cleared and before a backward."""

    ABOUT = "gradient clipping"
    KEEP = 1

    frame: Frame | None
    limit: float
