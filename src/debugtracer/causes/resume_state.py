"""Training state was lost or mapped wrongly on resume."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class ResumeState(Cause):
    """Weights alone are no training state: moments, schedule, scaler, RNG, loader position and running statistics
    belong to it."""

    kind: ClassVar[str] = "resume_state"
    layer: ClassVar[Layer] = "rollback"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("fresh-moments", "older-weights", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump", "optimizer/loss-spike", "rollback/ckpt-incomplete")
    rewrites: ClassVar[tuple[str, ...]] = ("strict-load",)
    remedies: ClassVar[tuple[str, ...]] = (
        "save and load model, optimizer, scheduler, scaler, RNG and the step together",
        "load with strict=True and read what it says",
        "after loading, compare the loss of one batch with that before saving",
    )
