"""A tensor of the batch changes its dtype in the middle of a run."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataDtypeDrift(Cause):
    """A column of integers becomes floats at its first missing value; labels turn into regression targets, numbers lose
    precision."""

    kind: ClassVar[str] = "data_dtype_drift"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("numerics/dtype-mismatch",)
    remedies: ClassVar[tuple[str, ...]] = (
        "cast in __getitem__ or in collate_fn: torch.as_tensor(value, dtype=...)",
        "look at the first sample of another dtype",
    )
