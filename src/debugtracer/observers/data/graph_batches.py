"""Compares, in inspected steps, the edges that a model is given with the nodes of each graph of the batch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.graph_batch import GraphBatch

GRAPHS = 3  # in a batch at least (ours: two may be a pair)


class GraphBatchesObserver(Observer):
    """Integers in host memory; one look costs a maximum and a count."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks: dict[str, int] = {}

    def reset(self) -> None:
        self.looks.clear()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Look at a root that is given nodes, edges and the graph of each node."""
        if not self.run.inspecting or not torch.is_grad_enabled():
            return
        given = [
            value for value in args if isinstance(value, Tensor) and value.device.type == "cpu" and is_dense(value)
        ]
        edges = next((value for value in given if is_edges(value)), None)
        if edges is None:
            return
        lengths = {len(value) for value in given if value.dim() == 2 and value.is_floating_point()}
        with torch.no_grad():
            owners = next((value for value in given if is_owners(value) and len(value) in lengths), None)
            if owners is not None:
                self.compare(module, edges, owners)

    def compare(self, module: nn.Module, edges: Tensor, owners: Tensor) -> None:
        """Count a batch whose edges stay within one graph's numbers."""
        sizes = torch.bincount(owners)
        largest, highest = int(sizes.max()), int(edges.max())
        root = type(module).__name__
        self.looks[root] = self.looks.get(root, 0) + 1 if highest < largest else 0
        found = self.run.batches.find(edges)
        loader = found[0].loader if found is not None else None
        self.run.emit(
            GraphBatch(
                ref=self.run.ref("forward"), root=root, nodes=len(owners), graphs=len(sizes), largest=largest,
                edges=int(edges.shape[1]), highest=highest, looks=self.looks[root],
                frame=(loader.frame if loader is not None else None) or self.run.here(),
                made=loader.made(found[1]) if loader is not None and found is not None and self.looks[root] else (),
            )
        )  # fmt: skip


def is_edges(value: Tensor) -> bool:
    """Whether it holds pairs of node numbers: (2, edges)."""
    return value.dim() == 2 and value.shape[0] == 2 and value.shape[1] > 0 and value.dtype == torch.int64


def is_owners(value: Tensor) -> bool:
    """Whether it tells the graph of each node: numbers that rise from 0 without a gap."""
    if value.dim() != 1 or value.dtype != torch.int64 or len(value) <= GRAPHS:
        return False
    steps = value.diff()
    return int(value[0]) == 0 and int(value[-1]) >= GRAPHS - 1 and bool(((steps == 0) | (steps == 1)).all())
