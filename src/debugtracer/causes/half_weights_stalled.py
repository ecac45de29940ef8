"""Updates are smaller than half precision can add."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit


class HalfWeightsStalled(Cause):
    """w + dw == w where dw is below half a unit in the last place of w: the weight stands still."""

    kind: ClassVar[str] = "half_weights_stalled"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision",)
    proved_by_training: ClassVar[tuple[str, ...]] = ("float32-update",)
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "clipped-gradient")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the weights in float32 and compute in half: torch.autocast",
        "or round stochastically, with an optimizer that keeps float32 master copies",
    )
