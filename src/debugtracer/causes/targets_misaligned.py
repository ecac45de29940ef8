"""Inputs and targets are put together that do not belong together."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.rows_misaligned import RowsMisaligned
from debugtracer.trace.finding import Layer


class TargetsMisaligned(Cause):
    """The rows, or the positions, of the targets are others than those of the inputs."""

    kind: ClassVar[str] = "targets_misaligned"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = RowsMisaligned.remedies
