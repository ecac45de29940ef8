"""The learning rate is 0, or negative."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class LrZero(Cause):
    """A rate of 0 given by hand, with no schedule that would raise it: updates change nothing; a negative one climbs
    the loss."""

    kind: ClassVar[str] = "lr_zero"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/no-update", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = (
        "give the optimizer a rate above 0: 1e-3 for Adam, 1e-2 for SGD are common first tries",
    )
