"""A feature stands still that always varied."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.constant_feature import ConstantFeature
from debugtracer.trace.finding import Layer


class DataConstantFeature(Cause):
    """A dead sensor, a column filled with a default from one file on, a lost image channel."""

    kind: ClassVar[str] = "data_constant_feature"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = ConstantFeature.remedies
