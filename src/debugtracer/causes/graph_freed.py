"""backward runs a second time through a graph that is gone."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class GraphFreed(Cause):
    """backward frees what it used; a state carried over steps, or a second backward of one loss, meets it freed."""

    kind: ClassVar[str] = "graph_freed"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("logging/held-graph",)
    remedies: ClassVar[tuple[str, ...]] = (
        "detach what is carried from step to step: state = state.detach()",
        "sum the losses and call backward once",
    )
