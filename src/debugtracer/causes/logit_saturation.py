"""Scores so large that softmax or attention leaves the range."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.masked_softmax_all_masked import SOFTMAX
from debugtracer.causes.reading import Reading


class LogitSaturation(Cause):
    """Query times key, or a logit, is beyond the range of float32 inside an attention or softmax op: Inf - Inf is NaN."""

    kind: ClassVar[str] = "logit_saturation"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "older-weights")
    refuted_by: ClassVar[tuple[str, ...]] = ("clipped-gradient", "fresh-moments", "larger-eps")
    supports: ClassVar[tuple[str, ...]] = ("model/logit-divergence",)
    remedies: ClassVar[tuple[str, ...]] = (
        "look for a value out of scale in the batch (a fill value such as 1e20): `debug-tracer report RUN --batch`",
        "normalise queries and keys before their product (a norm layer on q and k), or cap the scores: 50 * torch.tanh(scores / 50)",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """Not finite out of a softmax or fused attention, from scores that are +Inf or from finite inputs without any -inf mask."""
        if seen.dtype == "float16" or not (seen.born("forward", *SOFTMAX) or (seen.born("forward") and seen.attention)):
            return None
        plus = any(t.posinf for t in seen.birth.inputs)
        masked = any(t.neginf for t in seen.birth.inputs)
        if not plus and (masked or not seen.attention):
            return None
        return Signs(
            confidence=0.8 if not masked else 0.6,
            because=f"the scores inside {seen.op} are beyond the range of {seen.dtype or 'the dtype'}, and Inf - Inf is NaN",
            remedies=self.remedies,
        )
