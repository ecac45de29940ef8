"""Shapes do not fit."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class ShapeMismatch(Cause):
    """A layer was built for another number of features, or two tensors cannot be broadcast."""

    kind: ClassVar[str] = "shape_mismatch"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/shape-drift", "data/ragged-samples")
    remedies: ClassVar[tuple[str, ...]] = (
        "build the layer for what it gets: print the shape before it, or use nn.LazyLinear",
        "give all samples one shape in collate_fn",
    )
