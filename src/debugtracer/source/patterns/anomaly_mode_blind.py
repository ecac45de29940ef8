"""Anomaly mode is left on for the whole program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class AnomalyModeBlind(Pattern):
    """set_detect_anomaly sees only nan, and only what backward functions return: no inf, nothing born forward; and it
    costs 80 % of a CPU step."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield calls that switch anomaly mode on by a literal True."""
        for node in source.program.nodes:
            if (
                not isinstance(node, ast.Call)
                or not (source.names.meaning(node.func) or "").endswith("autograd.set_detect_anomaly")
                or not node.args
            ):
                continue
            if isinstance(node.args[0], ast.Constant) and node.args[0].value is True:
                seen = (
                    "anomaly mode is always on: it checks backward results for nan only, not for inf, and misses what "
                    "is born in the forward"
                )
                remedy = "leave it out and run `debug-tracer run`, which replays the failing step"
                yield self.hit(source, node, seen, "it on only while searching", remedy, note=True)
