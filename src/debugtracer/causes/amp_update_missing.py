"""The scaler is stepped and never updated."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class AmpUpdateMissing(Cause):
    """Without scaler.update() the scale stays as it is, and the record of overflows is never cleared."""

    kind: ClassVar[str] = "amp_update_missing"
    layer: ClassVar[Layer] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch")
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff",)
    remedies: ClassVar[tuple[str, ...]] = ("scaler.update() once after scaler.step(optimizer)",)
