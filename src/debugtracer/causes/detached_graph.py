"""The loss is cut off from parameters."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class DetachedGraph(Cause):
    """.data, .detach(), .item() or a new tensor made from numbers ends the graph: what lies before gets no gradient."""

    kind: ClassVar[str] = "detached_graph"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/no-update", "optimizer/loss-plateau")
    contradicts: ClassVar[tuple[str, ...]] = ("model/frozen-held",)
    rewrites: ClassVar[tuple[str, ...]] = ("keep-graph",)
    remedies: ClassVar[tuple[str, ...]] = (
        "take .detach(), .data, .item() and torch.tensor(...) out of what leads to the loss",
        "combine losses with + and torch.stack, which keep the graph",
    )
