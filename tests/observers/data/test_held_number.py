"""The number far from all others in what the running functions hold."""

from __future__ import annotations

import torch

from debugtracer.observers.data.held_number import held_number


def rows():
    return torch.arange(40.0).remainder(5).reshape(10, 4)


def test_the_tensor_that_holds_it_its_row_and_its_line():
    inputs = rows()
    other = rows()
    inputs[3, 2] = 1086393600.0
    found = held_number()
    assert found is not None
    assert (found.name, found.row, found.element.place, found.element.value) == ("inputs", 3, (2,), 1086393600.0)
    assert len(other) == 10


def test_none_in_tensors_alike_with_a_graph_and_in_parameters():
    weights = torch.nn.Parameter(rows())
    weights.data[3, 2] = 1e9
    outputs = weights * 2
    inputs = rows()
    assert held_number() is None
    assert len(outputs) == len(inputs)
