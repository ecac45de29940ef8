"""exp of what a network gives, with nothing that bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class ExpUnbounded(Pattern):
    """exp is inf above 88.7 in float32, above 11.1 in float16; a Linear layer keeps to no bound. Common in variational
    models, hence a note."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield exp of an unbounded value, where a gradient is made."""
        for call in source.calls("exp"):
            value = source.value(call.operand)
            if (
                not value.free
                or value.high < 88
                or source.bounded(call.operand)
                or source.no_grad(call.node)
                or source.guarded(call.node, call.operand)
            ):
                continue
            seen = f"exp({source.shown(call.operand)}): {value.free}, and exp is inf above 88.7 (11.1 in float16)"
            yield self.hit(
                source,
                call.node,
                seen,
                "a bounded argument",
                "clamp it (clamp(-10, 10) for a log-variance), or use softplus",
                note=True,
            )
