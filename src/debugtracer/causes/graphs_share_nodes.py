"""Graphs that should have nodes of their own share those of the first."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.data.graphs_share_nodes import GraphsShareNodes as Said
from debugtracer.trace.finding import Layer


class GraphsShareNodes(Cause):
    """The node numbers in the edges begin at 0 in each graph of a batch: the first gets the messages of all."""

    kind: ClassVar[str] = "graphs_share_nodes"
    layer: ClassVar[Layer] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = Said.remedies
