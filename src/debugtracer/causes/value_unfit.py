"""A value that the program gave itself and that a line of it cannot take."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.numerics.crash_values import UNFIT, CrashValues
from debugtracer.trace.finding import Layer


class ValueUnfit(Cause):
    """A bound of 0 in the settings where a range is drawn from, a part of a model that is built under one condition and
    used under another: the line that uses it raises, and no record is at fault."""

    kind: ClassVar[str] = UNFIT
    layer: ClassVar[Layer] = "numerics"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("other-batch", "without-sample")
    remedies: ClassVar[tuple[str, ...]] = CrashValues.alternatives
