"""An average of the weights is computed and never written."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.optimizer.copy_unmoved import CopyUnmoved
from debugtracer.trace.finding import Layer


class AverageNotUpdated(Cause):
    """What is evaluated, or what the targets are made with, stays the untrained network."""

    kind: ClassVar[str] = "average_not_updated"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/validation-gap",)
    remedies: ClassVar[tuple[str, ...]] = CopyUnmoved.remedies
