"""Fetching a sample changes the data that it is fetched from."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.fetch_writes import FetchWrites
from debugtracer.trace.finding import Layer


class DataOverwritten(Cause):
    """What `__getitem__` took from an array is written into in place: each pass trains on what the last one left."""

    kind: ClassVar[str] = "data_overwritten"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/scale-drift", "data/range-extreme")
    remedies: ClassVar[tuple[str, ...]] = FetchWrites.remedies
