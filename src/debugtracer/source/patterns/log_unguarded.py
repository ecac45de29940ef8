"""A logarithm of something that reaches zero or goes below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source
from debugtracer.trace.op import LOG_EDGES

LOGSIGMOID = "use torch.nn.functional.logsigmoid of the scores"
GUARD = "clamp its argument from below (clamp_min(1e-8)) or add an epsilon to it"


@dataclass(frozen=True)
class LogUnguarded(Pattern):
    """torch.log is -inf at 0 and nan below; its gradient 1/x is inf at 0. A value is known to get there: sigmoid, a
    count, a clamp at 0, a Linear layer."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield logarithms whose argument reaches the edge; log(softmax) has its own pattern."""
        for call in source.calls(*LOG_EDGES):
            value = source.value(call.operand)
            point = value.at_most(LOG_EDGES[call.name])
            if point is None or value.form == "softmax" or source.guarded(call.node, call.operand):
                continue
            seen = f"{call.name}({source.shown(call.operand)}) without a guard: {point.why}"
            remedy = LOGSIGMOID if value.form == "sigmoid" else GUARD
            yield self.hit(
                source, call.node, seen, f"an argument above {LOG_EDGES[call.name]:g}", remedy, note=point.weak
            )
