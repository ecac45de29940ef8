"""Two parts of the data share one dataset and its settings."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.setting_shared import SettingShared
from debugtracer.trace.finding import Layer


class DatasetShared(Cause):
    """`random_split` copies nothing: what is set on the dataset behind one part is set for all parts."""

    kind: ClassVar[str] = "dataset_shared"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = SettingShared.remedies
