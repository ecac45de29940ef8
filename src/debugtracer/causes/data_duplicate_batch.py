"""The same batch comes again and again."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataDuplicateBatch(Cause):
    """Workers of an iterable dataset that all read everything, or a loader made anew in each step."""

    kind: ClassVar[str] = "data_duplicate_batch"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-too-good", "data/worker-rng")
    remedies: ClassVar[tuple[str, ...]] = (
        "split the stream over the workers: torch.utils.data.get_worker_info() in __iter__",
        "make the loader once, before the loop",
    )
