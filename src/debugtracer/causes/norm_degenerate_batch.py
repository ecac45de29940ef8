"""A batch is too small for batch statistics."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class NormDegenerateBatch(Cause):
    """BatchNorm over one value per channel has variance 0: it raises in training, or normalises noise in batches of two
    or three."""

    kind: ClassVar[str] = "norm_degenerate_batch"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "larger-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/short-batch",)
    rewrites: ClassVar[tuple[str, ...]] = ("drop-last",)
    remedies: ClassVar[tuple[str, ...]] = (
        "drop the last, short batch: DataLoader(..., drop_last=True)",
        "for small batches use GroupNorm or LayerNorm, which do not mix samples",
    )
