"""The worst model is kept as the best."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class BestReversed(Cause):
    """A score is taken for an error, or an error for a score: what keeps the best model keeps the worst, what stops
    training without improvement stops it because of improvement."""

    kind: ClassVar[str] = "best_reversed"
    layer: ClassVar[Layer] = "rollback"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = (
        'mode="max" (greater_is_better=True) for accuracies and other scores, mode="min" for losses and errors',
    )
