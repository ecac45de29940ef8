"""softmax, sigmoid or logsumexp written out with exp, which overflows above 88."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class ExpByHand(Pattern):
    """exp is inf above 88.7 in float32 (11.1 in float16): inf/inf is nan and log(inf) is inf, where torch's own
    functions subtract the largest score first."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield exp over a sum with exp, and logs of a sum of exps, unless something bounds the scores."""
        for node, above, below in source.divisions():
            if above is None or (source.value(above).form, source.value(below).form) != ("exp", "exp_sum"):
                continue
            if not source.bounded(above) and not source.tested(node, below):
                seen = f"{source.shown(node)}: inf/inf where the argument of exp passes 88.7"
                yield self.hit(
                    source,
                    node,
                    seen,
                    "a number in 0..1",
                    "use torch.softmax or torch.sigmoid, or subtract the largest score first",
                )
        for call in source.calls("log", "log2", "log1p"):
            form = source.value(call.operand).form
            if form != "exp_sum" and (form, call.name) != ("exp", "log1p"):
                continue
            if not source.bounded(call.operand) and not source.tested(call.node, call.operand):
                seen = f"{call.name}({source.shown(call.operand)}): inf where the argument of exp passes 88.7"
                yield self.hit(
                    source,
                    call.node,
                    seen,
                    "a finite number",
                    "use torch.logsumexp, or torch.nn.functional.softplus for log(1 + exp(x))",
                )
