"""Every target of the batch belongs to classes whose weight is zero."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.labels_all_ignored import LOSSES
from debugtracer.causes.reading import Reading


class ClassWeightsZero(Cause):
    """cross_entropy(weight=...) with reduction="mean" divides by the sum of the weights of the targets."""

    kind: ClassVar[str] = "zero_division"
    hears: ClassVar[bool] = False
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "lower-lr", "fresh-moments")
    remedies: ClassVar[tuple[str, ...]] = (
        "give every class a positive weight, or leave its samples out in the dataset",
        'divide by the clamped sum: cross_entropy(..., reduction="sum") / weight[target].sum().clamp_min(1e-8)',
    )

    def signs(self, seen: Reading) -> Signs | None:
        """NaN out of a weighted nll loss, from finite inputs, with a class weight of 0."""
        if not seen.born("forward", *LOSSES):
            return None
        floats = [t for t in seen.birth.inputs if "float" in t.dtype]
        if len(floats) < 2 or floats[0].nan or floats[0].posinf or floats[1].low is None or float(floats[1].low) != 0:
            return None
        return Signs(
            confidence=0.8,
            because=f"the class weights of all targets of the batch are 0, so the mean in {seen.op} divides 0 by 0",
            remedies=self.remedies,
            whole_batch=True,
        )
