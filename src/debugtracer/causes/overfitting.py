"""The model learns its training set by heart."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class Overfitting(Cause):
    """The training loss falls while that of held-out data rises."""

    kind: ClassVar[str] = "overfitting"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("data/repeated-ngram",)
    contradicts: ClassVar[tuple[str, ...]] = ("data/train-eval-overlap",)
    remedies: ClassVar[tuple[str, ...]] = (
        "stop where the validation loss is lowest",
        "more data, augmentation, dropout, weight decay, a smaller model",
    )
