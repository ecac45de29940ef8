"""Copies of trained layers that move."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.wiring import Wiring
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, *, moves=True, in_step=True, shape=8):
    """Three inspected steps beside a frozen net; whether it is told of as a follower."""
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 4))
    beside = copy.deepcopy(model) if shape == 8 else nn.Sequential(nn.Linear(4, shape), nn.Linear(shape, 4))
    beside.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for step in range(3):
            x = torch.randn(6, 4)
            target = beside(x) if in_step or step == 1 else x
            optimizer.zero_grad()
            (model(x) - target - 1.0).square().mean().backward()
            optimizer.step()
            if moves:
                for slow, fast in zip(beside.parameters(), model.parameters(), strict=True):
                    slow.data.add_(0.1 if slow.shape != fast.shape else 0.1 * (fast.data - slow.data))
    return any(wiring.follower for wiring in facts(out, Wiring))


def test_a_target_network_is_found(tmp_path):
    assert run(tmp_path)


@pytest.mark.parametrize(
    "case",
    [{"moves": False}, {"in_step": False}, {"shape": 5}],
    ids=["frozen teacher", "kept for evaluation", "other layers"],
)
def test_silent_on(tmp_path, case):
    assert not run(tmp_path, **case)
