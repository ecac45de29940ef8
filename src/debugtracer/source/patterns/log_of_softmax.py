"""log(softmax(x)) written as two functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class LogOfSoftmax(Pattern):
    """softmax is exactly 0 in float32 for a score 104 below the largest, and log makes -inf of it; log_softmax gives
    -104."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield logarithms of a softmax that reaches 0."""
        for call in source.calls("log", "log2", "log10"):
            value = source.value(call.operand)
            if value.form == "softmax" and value.at_most(0.0) and not source.guarded(call.node, call.operand):
                seen = f"{call.name} of a softmax, {source.shown(call.operand)}: -inf where softmax is exactly 0"
                yield self.hit(
                    source,
                    call.node,
                    seen,
                    "a finite number for every score",
                    "use torch.log_softmax(scores, dim) instead of both",
                )
