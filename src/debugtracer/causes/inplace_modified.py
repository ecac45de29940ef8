"""A tensor that backward needs was changed in place."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class InplaceModified(Cause):
    """Autograd counts the writes to each saved tensor and raises in backward when one came after it was saved."""

    kind: ClassVar[str] = "inplace_modified"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    rewrites: ClassVar[tuple[str, ...]] = ("out-of-place", "inplace-off")
    remedies: ClassVar[tuple[str, ...]] = (
        "write x = x * y instead of x *= y",
        "inplace=False for an activation whose input is needed",
        "x.clone() before the write",
    )
