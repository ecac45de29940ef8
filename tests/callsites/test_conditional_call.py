"""Layers that are called under a condition."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.callsites.conditional_call import conditional_call


class Heads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.box, self.both = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)
        self.inner = nn.ModuleList([nn.Linear(2, 2)])

    def forward(self, x, some):
        h = self.both(self.both(self.trunk(x)))
        if some:
            h = self.inner[0](h)
        return self.box(h) if some else h


def test_the_line_of_a_call_under_a_condition():
    found = conditional_call(Heads(), "box")
    assert found is not None
    assert found.code == "return self.box(h) if some else h"
    inner = conditional_call(nn.Sequential(Heads()), "0.inner.0")
    assert inner is None or inner.code == "h = self.inner[0](h)"
    assert conditional_call(Heads(), "inner.0").code == "h = self.inner[0](h)"


def test_one_that_is_called_always_or_unknown():
    for layer in ("trunk", "both", "nothing", ""):
        assert conditional_call(Heads(), layer) is None
    assert conditional_call(nn.Sequential(nn.Linear(2, 2)), "0") is None
    assert torch.is_tensor(Heads()(torch.ones(1, 2), True))
