"""Batch after batch holds one class."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.class_skew import ClassSkew
from debugtracer.trace.finding import Layer


class DataClassSkew(Cause):
    """Files sorted by class and a loader that does not shuffle: the model learns the class at hand and forgets the last
    one."""

    kind: ClassVar[str] = "data_class_skew"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "reordered-batches")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/epoch-order", "optimizer/loss-spike")
    rewrites: ClassVar[tuple[str, ...]] = ("shuffle",)
    remedies: ClassVar[tuple[str, ...]] = ClassSkew.remedies
