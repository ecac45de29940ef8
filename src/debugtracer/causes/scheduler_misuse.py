"""The schedule is stepped, sized or monitored wrongly."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class SchedulerMisuse(Cause):
    """Sized in epochs and stepped in batches, stepped before the optimizer, or left at a factor of 0: the rate is not
    the one that was meant."""

    kind: ClassVar[str] = "scheduler_misuse"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr", "one-line-fix")
    proved_by_training: ClassVar[tuple[str, ...]] = ("built-rate",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump", "optimizer/no-update", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = (
        "give the schedule the number of its own steps: T_max=epochs * len(loader) where it is stepped in each batch",
        "step it after optimizer.step(), once per unit that it was sized in",
    )
