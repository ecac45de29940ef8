"""A target is outside the class range."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class LabelOutOfRange(Cause):
    """cross_entropy and nll_loss need targets in [0, C), binary losses targets in [0, 1]; on a GPU the same fault is a
    device-side assert."""

    kind: ClassVar[str] = "label_out_of_range"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("numerics/nan-loss",)
    remedies: ClassVar[tuple[str, ...]] = (
        "map the labels to 0 .. C-1, or raise the number of outputs to the largest label + 1",
        "mark labels that do not count with ignore_index=-100",
        "look at the labels of the batch: `debug-tracer report RUN --batch`",
    )
