"""Bytes of every kind of tensor, and no question that a kind refuses to answer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.recorder.state.held_bytes import device_s, held_bytes

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


def test_a_layout_without_values_tells_none():
    assert held_bytes(torch.zeros(4).to_mkldnn()) == 0


def test_a_copy_on_a_device_reads_and_writes_values_and_moments_and_one_on_the_host_waits():
    there, here = torch.zeros(1000, device="meta"), torch.zeros(10)
    first, second = (torch.optim.SGD([nn.Parameter(t)], lr=0.1) for t in (there, here))
    assert device_s([first, second], lambda o: o.param_groups[0]["params"]) == pytest.approx(6 * 4000 / 5e11)
