"""The learning rate is beyond stability: values grew until they left the range."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Signs
from debugtracer.causes.reading import Reading
from debugtracer.trace.finding import Layer


class LrTooHigh(Cause):
    """The loss or the weights grow step by step until an op overflows in float32."""

    kind: ClassVar[str] = "lr_too_high"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr",)
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "without-sample", "other-batch", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = (
        "optimizer/loss-divergence",
        "optimizer/loss-oscillation",
        "optimizer/loss-spike",
        "optimizer/lr-jump",
        "optimizer/update-ratio",
        "optimizer/weight-norm-growth",
    )
    contradicts: ClassVar[tuple[str, ...]] = ("data/hard-samples", "data/outlier-sample", "optimizer/zero-grad-missing", "optimizer/second-moment-decoupled")
    rewrites: ClassVar[tuple[str, ...]] = ("lower-lr",)
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the learning rate by 10, or warm it up over the first hundreds of steps",
        "clip: torch.nn.utils.clip_grad_norm_(params, 1.0) before step()",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """An overflow outside half precision after a loss or weight norm that grew at least tenfold in the last steps."""
        if seen.facts.birth is None or not seen.born_inf or seen.dtype == "float16" or seen.birth.kind not in ("overflow", "inf-inf"):
            return None
        grown = max(seen.growth("loss"), seen.growth("param_l2"))
        if grown < 10 and not seen.born("update"):
            return None
        lr = seen.facts.optimizer.lr if seen.facts.optimizer else None
        at = f" (lr = {float(lr):g})" if lr is not None else ""
        steep = seen.growth("grad_l2") > 100 * grown
        return Signs(
            confidence=0.5 if steep or seen.few_rows else 0.72,
            because=f"values grew {grown:.3g}-fold in the last steps until {seen.op} overflowed{at}",
            remedies=self.remedies,
            against=tuple(t for t, so in (("only a few rows of the batch overflow", seen.few_rows), ("gradients grew far more than the loss", steep)) if so),
        )
