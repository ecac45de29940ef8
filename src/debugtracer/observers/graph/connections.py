"""What a graph network is given as the connections between its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

HELD = ("edge_index", "adj_t")
"""Attributes of what holds a graph."""


def graph_tensors(value: Any) -> Iterator[Tensor]:
    """Yield an argument that is a tensor, or the connections of one that holds a graph."""
    if isinstance(value, Tensor):
        yield value
    elif not isinstance(value, nn.Module):
        for name in HELD:
            held = getattr(value, name, None)
            if isinstance(held, Tensor):
                yield held


def connects(value: Tensor, nodes: int) -> bool:
    """Whether a tensor holds connections of that many nodes: pairs of their numbers, or a number for each pair. Waits
    for the device where it holds pairs."""
    if value.dim() != 2 or value.requires_grad:
        return False
    if value.shape[0] == value.shape[1] == nodes:
        return True
    if value.layout is not torch.strided or value.dtype != torch.int64 or value.shape[0] != 2 or not value.numel():
        return False
    return value.shape[1] > 2 and int(value.min()) >= 0 and nodes / 2 < int(value.max()) < nodes
