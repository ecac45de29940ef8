"""Loader workers, epochs or steps repeat the same random numbers."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class WorkerRngDuplicate(Cause):
    """A generator made in the dataset is copied into each worker, and again in each epoch, or one is made and seeded
    anew in each step: every copy draws the same numbers."""

    kind: ClassVar[str] = "worker_rng_duplicate"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("augmentation-off", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/duplicate-batch",)
    remedies: ClassVar[tuple[str, ...]] = (
        "seed it in worker_init_fn from torch.initial_seed(), which differs for each worker and epoch",
        "or draw from torch itself in the dataset: it is seeded for each worker and epoch",
    )
