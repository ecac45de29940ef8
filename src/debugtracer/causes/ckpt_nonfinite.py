"""A checkpoint holds values that are not finite."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class CkptNonfinite(Cause):
    """It was saved after the weights, or an average of them, had gone bad."""

    kind: ClassVar[str] = "ckpt_nonfinite"
    layer: ClassVar[Layer] = "rollback"
    proved_by: ClassVar[tuple[str, ...]] = ("older-weights",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "other-batch", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("numerics/nonfinite-parameter",)
    remedies: ClassVar[tuple[str, ...]] = (
        "go back to the last finite checkpoint",
        (
            "test before saving: all(torch.isfinite(v).all() for v in model.state_dict().values() if "
            "v.is_floating_point())"
        ),
    )
