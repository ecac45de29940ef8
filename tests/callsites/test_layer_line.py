"""The line that builds a layer."""

from __future__ import annotations

from torch import nn

from debugtracer.callsites.layer_line import layer_line


class Net(nn.Module):
    """A layer of its own, a written stack, and one that is made in a loop."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)
        self.head = nn.Sequential(
            nn.Linear(4, 3),
            nn.ReLU(),
            nn.Linear(3, 1),
        )
        self.stack = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 5)])
        self.many = nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)])


def code(module, *running):
    line = layer_line(module, running)
    return line.code if line is not None else None


def test_where_the_class_sets_it():
    net = Net()
    assert code(net.out, net.out, net) == "self.out = nn.Linear(4, 2)"


def test_the_element_of_a_stack_that_is_written_out():
    net = Net()
    assert code(net.head[0], net.head[0], net.head, net) == "nn.Linear(4, 3),"
    assert code(net.head[2], net.head[2], net.head, net) == "nn.Linear(3, 1),"
    assert code(net.stack[1], net.stack[1], net) == "self.stack = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 5)])"


def test_nothing_of_a_stack_that_is_made_in_a_loop_or_of_a_layer_nobody_holds():
    net = Net()
    assert code(net.many[1], net.many[1], net.many, net) is None
    assert code(nn.Linear(1, 1), net) is None
