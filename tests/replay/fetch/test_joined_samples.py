"""The samples behind the places of a batch whose collate_fn joins them end to end."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from debugtracer.hooks.loading.loader_batch import batch_of, info_of_iterator
from debugtracer.hooks.loading.loader_feed import FetchedRows
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.replay.fetch.joined_samples import joined_samples

SIZES = (3, 1, 4, 2)


class Graphs(Dataset[Tensor]):
    """Nodes of graphs of different sizes; some draw noise anew at each fetch, or are all alike."""

    def __init__(self, noise: float = 0.0, alike: bool = False) -> None:
        self.noise, self.alike = noise, alike

    def __len__(self) -> int:
        return len(SIZES)

    def __getitem__(self, index: int) -> Tensor:
        size = 2 if self.alike else SIZES[index]
        start = 0.0 if self.alike else float(index)
        return torch.full((size, 2), start) + self.noise * torch.rand(size, 2)


def edges(samples: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Nodes, and from each to each an edge, whose ends are counted through the batch."""
    found, offset = [], 0
    for nodes in samples:
        found.append(torch.cartesian_prod(torch.arange(len(nodes)), torch.arange(len(nodes))).view(-1, 2) + offset)
        offset += len(nodes)
    return torch.cat(samples), torch.cat(found), torch.tensor([nodes.mean() for nodes in samples])


def backwards(samples: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """The same in another order."""
    return edges(samples[::-1])


def found(dataset: Any, length: int, collate: Any = edges) -> tuple[int, ...] | None:
    """What each place is of its first batch."""
    iterator = iter(DataLoader(dataset, batch_size=4, collate_fn=collate))
    data = next(iterator)
    info = info_of_iterator(iterator)
    info.iterated(iterator)
    return joined_samples(batch_of(info, FetchedRows(4, (0, 1, 2, 3), ""), 0, 0.0, leaves_of(data)), length)


def test_a_node_and_an_edge_belong_to_the_graph_they_were_made_of():
    assert found(Graphs(), 10) == (0, 0, 0, 1, 2, 2, 2, 2, 3, 3)
    assert found(Graphs(), 30) == (0,) * 9 + (1,) + (2,) * 16 + (3,) * 4


def test_a_length_of_no_tensor_says_nothing():
    assert found(Graphs(), 11) is None
    assert found(Graphs(), 4) is None


def test_samples_that_come_out_otherwise_or_are_in_another_order_are_not_named():
    assert found(Graphs(noise=0.5), 10) is None
    assert found(Graphs(), 10, backwards) is None


def test_samples_that_are_all_alike_prove_no_order():
    assert found(Graphs(alike=True), 8) is None
