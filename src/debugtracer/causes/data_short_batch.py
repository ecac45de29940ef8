"""A batch has far fewer rows than usual in the middle of an epoch."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.short_batch import ShortBatch
from debugtracer.trace.finding import Layer


class DataShortBatch(Cause):
    """A collate_fn or sampler leaves samples out; the few that stay get the step of a full batch."""

    kind: ClassVar[str] = "data_short_batch"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("other-batch", "larger-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/dropped-rows", "optimizer/loss-spike")
    remedies: ClassVar[tuple[str, ...]] = ShortBatch.remedies
