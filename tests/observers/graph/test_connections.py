"""Connections between the nodes of a graph."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.graph.connections import connects, graph_tensors

PAIRS = torch.tensor([[0, 1, 2, 5], [1, 2, 5, 0]])


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (PAIRS, True),
        (torch.eye(6), True),
        (torch.eye(6).to_sparse(), True),
        (PAIRS.float(), False),
        (PAIRS[:, :2], False),  # two pairs may be anything
        (PAIRS - 1, False),
        (PAIRS + 6, False),
        (torch.eye(5), False),
        (torch.eye(6, requires_grad=True), False),
        (torch.arange(6), False),
    ],
)
def test_pairs_of_nodes_and_a_number_for_each_pair(value: Tensor, fits: bool) -> None:
    assert connects(value, 6) == fits


def test_an_argument_is_one_or_holds_some() -> None:
    assert list(graph_tensors(PAIRS)) == [PAIRS]
    assert [t is PAIRS for t in graph_tensors(SimpleNamespace(x=torch.ones(2), edge_index=PAIRS, adj_t=None))] == [True]
    assert list(graph_tensors(nn.Linear(1, 1))) == list(graph_tensors("edges")) == []
