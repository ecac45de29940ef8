"""Samples of the evaluation were trained on."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.train_eval_overlap import TrainEvalOverlap
from debugtracer.trace.finding import Layer


class DataTrainEvalOverlap(Cause):
    """A split that overlaps, or duplicates in the source: the evaluation measures memory."""

    kind: ClassVar[str] = "data_train_eval_overlap"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    contradicts: ClassVar[tuple[str, ...]] = ("optimizer/validation-gap",)
    remedies: ClassVar[tuple[str, ...]] = TrainEvalOverlap.remedies
