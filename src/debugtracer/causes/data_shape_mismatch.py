"""A tensor of the batch changes its shape."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataShapeMismatch(Cause):
    """Another number of dimensions, another size where it never varied: torch raises, or a broadcast hides it."""

    kind: ClassVar[str] = "data_shape_mismatch"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("model/loss-broadcast",)
    remedies: ClassVar[tuple[str, ...]] = (
        "give every sample the same shape where the dataset makes it",
        "assert the shape in collate_fn",
    )
