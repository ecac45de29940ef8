"""The loss scale is searched for too fast, too slowly, or not from where it fits."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause


class AmpScalerArguments(Cause):
    """growth_interval, growth_factor, backoff_factor or init_scale make the scaler skip many updates or leave it far
    below what fits."""

    kind: ClassVar[str] = "amp_scaler_arguments"
    proved_by: ClassVar[tuple[str, ...]] = ("loss-scale", "full-precision")
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff",)
    contradicts: ClassVar[tuple[str, ...]] = ("numerics/scaler-collapse",)
    remedies: ClassVar[tuple[str, ...]] = (
        "torch.amp.GradScaler() with its defaults: init_scale 65536, growth 2 every 2000 steps, backoff 0.5",
    )
