"""Who uses a leaf."""

from __future__ import annotations

import torch

from debugtracer.observers.graph.consumers import consumers


def test_the_nodes_that_take_a_leaf():
    gate, other = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    loss = (torch.relu(gate) * other + gate.abs()).sum()
    assert consumers([loss], {id(gate)}) == {id(gate): {"ReluBackward0", "AbsBackward0"}}
    assert consumers([loss], {id(other)}) == {id(other): {"MulBackward0"}}
    assert consumers([other.sum()], {id(gate)}) == {}
