"""A square root of something that reaches zero, where its derivative is infinite, or goes below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source
from debugtracer.source.value import FAR, SQUARES


@dataclass(frozen=True)
class SqrtUnguarded(Pattern):
    """The derivative of sqrt at 0 is inf, and inf * 0 is the nan that reaches every weight; below 0 the value itself is
    nan; rsqrt(0) is inf."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield square roots whose argument reaches 0 (where a gradient is made) or goes below (anywhere)."""
        for call in source.calls("sqrt", "rsqrt"):
            value = source.value(call.operand)
            point = value.at_most(0.0)
            if point is None or value.form in SQUARES + FAR or source.guarded(call.node, call.operand):
                continue
            only_gradient = call.name == "sqrt" and point.at == 0
            if only_gradient and (source.no_grad(call.node) or value.detached or point.blocked):
                continue
            what = "its derivative at 0 is infinite" if only_gradient else "the result is not finite there"
            seen = f"{call.name}({source.shown(call.operand)}) without a guard: {point.why}, and {what}"
            yield self.hit(
                source,
                call.node,
                seen,
                "an argument above 0",
                "add an epsilon inside the root, or clamp_min(1e-12) its argument",
                note=point.weak,
            )
