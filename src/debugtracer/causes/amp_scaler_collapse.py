"""The loss scale shrinks for ever and no update is made."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause


class AmpScalerCollapse(Cause):
    """GradScaler halves its scale at each overflow; with a NaN that no scale cures it goes to 0 and skips every
    step."""

    kind: ClassVar[str] = "amp_scaler_collapse"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "loss-scale", "older-weights")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments", "clipped-gradient")
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff", "optimizer/no-update")
    remedies: ClassVar[tuple[str, ...]] = (
        "find what is not finite at any scale: one step with autocast off",
        "restore the last checkpoint with finite weights",
        "use bfloat16, which needs no scaler",
    )
