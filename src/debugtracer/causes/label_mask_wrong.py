"""The mask of the loss hides what should count, or lets padding count."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class LabelMaskWrong(Cause):
    """ignore_index is compared with the target, not with the input: a pad id that is not the ignore_index counts as a
    class."""

    kind: ClassVar[str] = "label_mask_wrong"
    layer: ClassVar[Layer] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/padding-waste",)
    contradicts: ClassVar[tuple[str, ...]] = ("data/targets-all-ignored",)
    remedies: ClassVar[tuple[str, ...]] = (
        "set the padded targets to -100, or pass ignore_index=PAD to the loss",
        "check one batch by eye: `debug-tracer report RUN --batch`",
    )
