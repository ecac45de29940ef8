"""acos or asin of something that reaches 1 or -1, where the derivative is infinite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class AcosAtOne(Pattern):
    """The derivative of acos is -1/sqrt(1 - x^2): infinite at 1, nan in backward, and a clamp to -1..1 leads exactly
    there."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield inverse cosines and sines whose argument reaches an edge, where a gradient is made."""
        for call in source.calls("acos", "arccos", "asin", "arcsin"):
            value = source.value(call.operand)
            point = value.exactly(1.0) or value.exactly(-1.0)
            if point is None or source.no_grad(call.node) or value.detached or source.guarded(call.node, call.operand):
                continue
            seen = f"{call.name}({source.shown(call.operand)}): {point.why}, and its derivative there is infinite"
            remedy = "clamp to -1 + 1e-6 .. 1 - 1e-6, or use torch.atan2 of sine and cosine"
            yield self.hit(source, call.node, seen, "an argument inside -1..1", remedy)
