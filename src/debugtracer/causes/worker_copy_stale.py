"""The workers of a loader go on with a copy of the dataset from before it was changed."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.worker_copy_stale import WorkerCopyStale as Check
from debugtracer.trace.finding import Layer


class WorkerCopyStale(Cause):
    """New negatives, another difficulty or the number of the epoch reach the main process alone."""

    kind: ClassVar[str] = "worker_copy_stale"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = Check.remedies
