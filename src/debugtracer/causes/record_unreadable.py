"""A record that a line of the program cannot take."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.numerics.crash_values import UNREADABLE, CrashValues
from debugtracer.trace.finding import Layer


class RecordUnreadable(Cause):
    """A text where a number is expected, a key that a table lacks, a picture of another form: the line that reads the
    records raises at one of them."""

    kind: ClassVar[str] = UNREADABLE
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = CrashValues.remedies
