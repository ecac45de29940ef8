"""detect_anomaly called as if it were a switch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class AnomalyModeUnused(Pattern):
    """torch.autograd.detect_anomaly is a context manager: called as a statement of its own it warns and leaves the mode
    off."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield calls of detect_anomaly whose result is dropped."""
        for node in source.program.nodes:
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Call)
                and (source.names.meaning(node.value.func) or "").endswith("autograd.detect_anomaly")
            ):
                seen = (
                    "torch.autograd.detect_anomaly(...) as a statement: it is a context manager, and the mode stays off"
                )
                yield self.hit(
                    source,
                    node,
                    seen,
                    "a with block",
                    "write `with torch.autograd.detect_anomaly():`, or set_detect_anomaly(True)",
                )
