"""More batches are skipped than a few accidents would need."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.rollback.skip_budget import SkipBudget
from debugtracer.trace.finding import Layer


class BatchesSkipped(Cause):
    """A guard on the loss, on the gradient norm or in the scaler skips batch after batch: what is in them is never
    learned."""

    kind: ClassVar[str] = "batches_skipped"
    layer: ClassVar[Layer] = "rollback"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "other-batch", "clipped-gradient")
    refuted_by: ClassVar[tuple[str, ...]] = ("fresh-moments",)
    supports: ClassVar[tuple[str, ...]] = ("numerics/scaler-backoff", "data/outlier-sample")
    remedies: ClassVar[tuple[str, ...]] = SkipBudget.remedies
