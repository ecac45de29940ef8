"""A function that guides name and torch does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source

MISSING = {
    "torch.autograd.is_detect_anomaly_enabled": "torch.is_anomaly_enabled()",
    "torch.is_detect_anomaly_enabled": "torch.is_anomaly_enabled()",
    "torch._debug_has_inf_over_flows": "torch.isfinite(x).all()",
}


@dataclass(frozen=True)
class FunctionMissing(Pattern):
    """torch.autograd.is_detect_anomaly_enabled and torch._debug_has_inf_over_flows do not exist: the first call raises
    AttributeError."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield uses of names that torch does not have."""
        for node in source.program.nodes:
            if isinstance(node, ast.Attribute) and (meaning := source.names.meaning(node)) in MISSING:
                yield self.hit(
                    source,
                    node,
                    f"{meaning} does not exist in torch",
                    "a function that does",
                    f"use {MISSING[meaning]}",
                )
