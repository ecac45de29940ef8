"""Soft targets put weight on classes whose logit is -inf."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import Reading


class LabelSmoothingMisuse(Cause):
    """log_softmax of a masked class is -inf; label smoothing and soft targets multiply or sum over it: Inf, or 0 * -inf = NaN."""

    kind: ClassVar[str] = "label_smoothing_misuse"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("numerics/nan-loss",)
    rewrites: ClassVar[tuple[str, ...]] = ("no-label-smoothing", "finite-mask")
    remedies: ClassVar[tuple[str, ...]] = (
        "no label smoothing over masked classes: label_smoothing=0, or smooth over the allowed classes only",
        "mask with a large finite number instead of -inf: logits.masked_fill(mask, -1e4)",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """A forward product or sum over log-probabilities that hold -inf."""
        if not seen.born("forward", "mul", "sum", "mean"):
            return None
        masked = [place for place, t in enumerate(seen.birth.inputs) if t.neginf and t.made_by and seen.made_by(place, "log_softmax")]
        smoothed = seen.facts.label_smoothing > 0 and (not seen.birth.inputs or any(t.neginf or t.posinf for t in seen.birth.inputs))
        if masked:
            because = f"{seen.op} runs over log-probabilities of which {seen.birth.inputs[masked[0]].neginf} are -inf (classes that a mask excluded)"
        elif smoothed:
            because = f"label_smoothing {seen.facts.label_smoothing:g} spreads over classes whose logit is -inf (excluded by a mask)"
        else:
            return None
        return Signs(
            confidence=0.9,
            because=because,
            remedies=self.remedies,
        )
