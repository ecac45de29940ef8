"""step() runs and parameters stay as they are."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class ParametersNotUpdated(Cause):
    """A learning rate of 0, a hand-written step that rebinds its name, gradients of 0: nothing is learnt."""

    kind: ClassVar[str] = "parameters_not_updated"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau", "optimizer/lr-zero")
    remedies: ClassVar[tuple[str, ...]] = (
        "in a step of your own write in place: p.sub_(lr * p.grad) below torch.no_grad(), not p = p - lr * p.grad",
        "check that the learning rate is not 0",
    )
