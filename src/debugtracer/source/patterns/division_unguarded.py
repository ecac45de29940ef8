"""A division by something that reaches zero: a norm, a standard deviation, a count, a relu."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source
from debugtracer.source.value import FAR

REMEDY = {
    "norm": "use torch.nn.functional.normalize, or clamp_min(1e-12) the norm",
    "spread": "add an epsilon to it, or clamp_min(1e-6)",
    "count": "clamp_min(1) the count, or leave the term out when nothing is selected",
}


@dataclass(frozen=True)
class DivisionUnguarded(Pattern):
    """x/0 is inf and 0/0 is nan, forward and backward; the divisor is known to reach 0."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield divisions between tensors whose divisor is exactly 0 somewhere."""
        for node, above, below in source.divisions():
            value = source.value(below)
            point = value.exactly(0.0)
            if (
                point is None
                or value.form in FAR
                or (point.weak and value.form not in ("spread", "norm"))
                or source.of_weight(below)
            ):
                continue
            if value.form in ("norm", "squares", "sum_of_squares", "mean_of_squares") and not value.tensor:
                continue  # (height ** 2 + width ** 2) ** 0.5 of numbers
            called = isinstance(node, ast.Call) and source.names.torch_function(node.func) is not None
            tensor = called or value.tensor or (above is not None and source.value(above).tensor)
            if not tensor or source.guarded(node, below):
                continue
            seen = f"a division by {source.shown(below)} without a guard: {point.why}"
            remedy = REMEDY.get(value.form, "clamp_min(1e-8) the divisor, or add an epsilon to it")
            yield self.hit(
                source, node, seen, "a divisor that is never 0", remedy, note=point.weak or source.no_grad(node)
            )
