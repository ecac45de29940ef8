"""Bytes of every kind of tensor, and no question that a kind refuses to answer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.recorder.state.held_bytes import held_bytes

SPARSE = torch.eye(4).to_sparse()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("tensor", "size"),
    [
        (torch.zeros(3, 4), 48),
        (torch.zeros(3, dtype=torch.float64), 24),
        (SPARSE, 4 * 4 + 2 * 4 * 8),
        (torch.eye(4).to_sparse_csr(), 16),
        (nn.LazyLinear(3).weight, 0),
        (torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), 0),
    ],
    ids=["strided", "double", "coo", "csr", "lazy", "nested"],
)
def test_bytes(tensor, size):
    assert held_bytes(tensor) == size
