"""The optimizer holds other parameters than the model."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class OptimizerParamsMismatch(Cause):
    """A head replaced, a model copied or moved after the optimizer was built: the new parameters are never updated."""

    kind: ClassVar[str] = "optimizer_params_mismatch"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/no-update", "model/tie-broken", "optimizer/loss-plateau")
    contradicts: ClassVar[tuple[str, ...]] = ("model/frozen-held",)
    remedies: ClassVar[tuple[str, ...]] = (
        "build the optimizer after the last change to the model",
        'or hand the new ones over: optimizer.add_param_group({"params": model.head.parameters()})',
    )
