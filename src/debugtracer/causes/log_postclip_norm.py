"""The logged gradient norm is the one after clipping."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.logging.postclip_norm import PostclipNorm
from debugtracer.trace.finding import Layer


class LogPostclipNorm(Cause):
    """It is computed after clip_grad_norm_ instead of taken from what that returns, so it never exceeds max_norm."""

    kind: ClassVar[str] = "log_postclip_norm"
    layer: ClassVar[Layer] = "logging"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = PostclipNorm.remedies
