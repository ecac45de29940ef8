"""Lines that write elements of a tensor."""

from __future__ import annotations

import sys

import torch
from torch import nn

from debugtracer.observers.checkpoint.element_writes import element_written_at


def test_through_modules_and_views():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    model[1].weight.data.view(torch.int32)[1, 2] ^= 0
    frame = element_written_at(model[1].weight, sys._getframe())
    assert frame is not None
    assert frame.code == "model[1].weight.data.view(torch.int32)[1, 2] ^= 0"
    assert element_written_at(model[0].weight, sys._getframe()) is None


def test_by_another_name():
    layer = nn.Linear(3, 4)
    cell = layer.weight.data.view(-1)
    cell[3].fill_(1.0)
    rows = {}
    rows["a"] = cell
    frame = element_written_at(layer.weight, sys._getframe())
    assert frame is not None
    assert frame.code == "cell[3].fill_(1.0)"


def test_nothing_writes():
    layer = nn.Linear(3, 4)
    layer.weight.data.mul_(1.0)
    assert element_written_at(layer.weight, sys._getframe()) is None
