"""Graphs joined into batches, in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from debugtracer.trace.facts.graph_batch import GraphBatch
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Given(nn.Module):
    """Takes the graph of each node and has no use for it."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor, edges: Tensor, plan: Tensor) -> Tensor:
        return self.net.layer(x.index_add(0, edges[1], x[edges[0]]))


SIZES = (4, 5, 6, 3) * 6


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x: Tensor, edges: Tensor, plan: Tensor) -> Tensor:
        x = x.index_add(0, edges[1], x[edges[0]])
        return self.layer(torch.zeros(int(plan[-1]) + 1, 2).index_add(0, plan, x))


def graph(size: int) -> tuple[Tensor, Tensor]:
    at = torch.arange(size)
    return torch.ones(size, 2), torch.stack([at, (at + 1) % size])


def apart(graphs: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    starts = [sum(len(x) for x, _ in graphs[:n]) for n in range(len(graphs))]
    edges = torch.cat([e + start for (_, e), start in zip(graphs, starts, strict=True)], 1)
    return torch.cat([x for x, _ in graphs]), edges, plan_of(graphs)


def together(graphs: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    return torch.cat([x for x, _ in graphs]), torch.cat([e for _, e in graphs], 1), plan_of(graphs)


def plan_of(graphs: list[tuple[Tensor, Tensor]]) -> Tensor:
    return torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor([len(x) for x, _ in graphs]))


def run(out: Path, collate, watched: bool = True) -> Tensor:
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def loop() -> None:
        for x, edges, plan in DataLoader([graph(size) for size in SIZES], 8, collate_fn=collate):
            optimizer.zero_grad()
            model(x, edges, plan).pow(2).mean().backward()
            optimizer.step()

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return model.layer.weight.detach().clone()


def test_edges_of_the_first_graph_alone(tmp_path):
    run(tmp_path, together)
    seen = facts(tmp_path, GraphBatch)
    assert [(f.looks, f.nodes, f.graphs, f.largest, f.highest) for f in seen] == [
        (look, 36, 8, 6, 5) for look in (1, 2, 3)
    ]
    (finding,) = findings(tmp_path, "graphs-share-nodes")
    assert "collate_fn=collate" in finding.place.symptom_frame.code


def test_edges_in_each_graph_are_silent(tmp_path):
    run(tmp_path, apart)
    assert {(f.looks, f.highest) for f in facts(tmp_path, GraphBatch)} == {(0, 35)}
    assert findings(tmp_path, "graphs-share-nodes") == []


@pytest.mark.parametrize("plan", [torch.zeros(9, dtype=torch.int64), torch.tensor([0, 1, 3, 3, 2, 2, 1, 0, 0])])
def test_one_graph_and_class_ids_are_no_batch_of_graphs(tmp_path, plan):
    model = Net()
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            Given(model)(*graph(9), plan).sum().backward()
            optimizer.step()
    assert facts(tmp_path, GraphBatch) == []


def test_training_is_the_same_bit_for_bit(tmp_path):
    assert torch.equal(run(tmp_path, together, watched=False), run(tmp_path / "a", together))
