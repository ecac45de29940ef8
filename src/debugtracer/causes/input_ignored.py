"""Parts of the input do not reach the output."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.model.positions_ignored import PositionsIgnored
from debugtracer.trace.finding import Layer


class InputIgnored(Cause):
    """A position is read where the whole sequence was meant: whatever else the input holds is lost."""

    kind: ClassVar[str] = "input_ignored"
    layer: ClassVar[Layer] = "model"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("model/input-ignored", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = PositionsIgnored.remedies
