"""Where a Parameter hangs that its module has not registered."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.model.unregistered import hidden


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.layers = [nn.Linear(2, 2) for _ in range(3)]
        self.table: dict[str, list[nn.Module]] = {"a": [nn.Linear(2, 2)]}
        self.loose = [nn.Parameter(torch.zeros(2))]


def test_lists_dicts_and_loose_parameters_are_found_with_the_line_that_assigns_them():
    net = Net()
    wanted = {
        id(net.layers[1].weight): "layers.1.weight",
        id(net.table["a"][0].bias): "table.a.0.bias",
        id(net.loose[0]): "loose.0",
    }
    found = hidden([nn.Sequential(net)], set(wanted))
    assert {key: path.removeprefix("0.") for key, (path, _, _, _) in found.items()} == wanted
    _, owner, members, frame = found[id(net.layers[1].weight)]
    assert (owner, members) == ("0.layers", 3)
    assert frame is not None
    assert frame.code == "self.layers = [nn.Linear(2, 2) for _ in range(3)]"


def test_registered_parameters_are_not_looked_for():
    net = Net()
    assert not hidden([net], {id(net.head.weight)})
