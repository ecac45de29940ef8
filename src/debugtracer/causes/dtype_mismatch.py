"""Tensors of different dtypes meet."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit


class DtypeMismatch(Cause):
    """numpy makes float64, integers come from files, half weights meet float32 inputs: torch raises."""

    kind: ClassVar[str] = "dtype_mismatch"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/dtype-drift",)
    remedies: ClassVar[tuple[str, ...]] = (
        "cast where the sample is made: torch.as_tensor(x, dtype=torch.float32)",
        "labels of classes as int64, regression targets as float32",
    )
