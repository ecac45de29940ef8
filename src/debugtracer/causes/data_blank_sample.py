"""A sample holds one single value."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.blank_sample import BlankSample
from debugtracer.trace.finding import Layer


class DataBlankSample(Cause):
    """Black or truncated images, silent recordings, texts that could not be decoded; normalised by their own spread
    they are 0/0."""

    kind: ClassVar[str] = "data_blank_sample"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/constant-feature",)
    remedies: ClassVar[tuple[str, ...]] = BlankSample.remedies
