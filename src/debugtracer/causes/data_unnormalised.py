"""Inputs are far from zero mean and unit size."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class DataUnnormalised(Cause):
    """Raw pixels or raw units make the first layer see one direction only; training is slow or oscillates."""

    kind: ClassVar[str] = "data_unnormalised"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("fresh-moments",)
    supports: ClassVar[tuple[str, ...]] = ("model/saturated-activation", "optimizer/loss-oscillation")
    contradicts: ClassVar[tuple[str, ...]] = ("data/scale-drift",)
    remedies: ClassVar[tuple[str, ...]] = (
        "subtract the mean of the training set and divide by its standard deviation, for each feature",
        "or put a normalisation layer first: nn.BatchNorm1d(features)",
    )
