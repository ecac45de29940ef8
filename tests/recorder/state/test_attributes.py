"""Facts about plain attributes of modules: which move, and their contents put back."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.recorder.state.attributes import changed, contents, everything, place_in, put_contents, signatures


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1)
        self.calls, self.still, self.history = 0, "same", [1.0]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.history.append(2.0)
        self.new = x
        return self.linear(x)


def test_only_what_a_forward_moved_is_learned() -> None:
    root = nn.Sequential(Counting())
    before = signatures(root)
    root(torch.ones(1, 2))
    assert {name for _, name in changed(root, before)} == {"calls", "history", "new"}


def test_train_and_eval_are_not_attributes_that_move() -> None:
    root = Counting()
    before = signatures(root)
    root.eval()
    assert changed(root, before) == {}


def test_values_come_back_in_the_same_objects() -> None:
    root = Counting()
    history, kept = root.history, everything(root)
    root(torch.ones(1, 2))
    kept.restore()
    assert (root.calls, root.history) == (0, [1.0])
    assert root.history is history


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, {1, 2}, deque([1, 2], maxlen=2), Counter("aab")])
def test_a_container_is_as_it_was(value: Any) -> None:
    before = contents(value)
    expected = type(value)(value)
    if isinstance(value, dict):
        value["z"] = 9
    elif isinstance(value, set):
        value.add(9)
    else:
        value.append(9)
    assert value != expected
    put_contents(value, before)
    assert value == expected


def test_what_is_no_container_has_no_contents() -> None:
    assert contents((1, 2)) is None
    assert contents(range(3)) is None


def test_the_place_of_a_tensor_is_found_in_attributes_lists_from_the_end_and_dictionaries() -> None:
    net = Counting()
    tensor = torch.ones(2)
    assert place_in(net, tensor) is None
    net.linear.kept = tensor
    assert place_in(net, tensor) == (net.linear, "kept", None)
    del net.linear.kept
    net.history = [tensor, 1.0]
    assert place_in(net, tensor) == (net, "history", -2)
    net.history = {"loss": tensor}
    assert place_in(net, tensor) == (net, "history", "loss")
