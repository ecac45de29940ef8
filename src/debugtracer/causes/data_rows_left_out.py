"""Rows of the data can never be drawn."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.rows_left_out import RowsLeftOut
from debugtracer.trace.finding import Layer


class DataRowsLeftOut(Cause):
    """A sampler with one weight per class where one per row is wanted draws the first rows again and again."""

    kind: ClassVar[str] = "data_rows_left_out"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/class-skew", "data/train-eval-overlap")
    remedies: ClassVar[tuple[str, ...]] = RowsLeftOut.remedies
