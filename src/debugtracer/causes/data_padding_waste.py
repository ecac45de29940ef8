"""Much of each batch is padding."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.padding_waste import PaddingWaste
from debugtracer.trace.finding import Layer


class DataPaddingWaste(Cause):
    """Texts padded to a fixed length instead of to the longest of their batch: time and memory for positions that count
    for nothing."""

    kind: ClassVar[str] = "data_padding_waste"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = PaddingWaste.remedies
