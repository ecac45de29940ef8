"""What a kept tape keeps alive: no graph of the program's, and only batches are counted."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.state.kept_tape import batch_bytes, has_graph, without_graphs
from debugtracer.recorder.tape.entry import Leaf
from debugtracer.recorder.tape.step_tape import Segment


def kept(*tensors: torch.Tensor) -> Segment:
    segment = Segment(0)
    for tensor in tensors:
        segment.leaves[id(tensor)] = Leaf(tensor)
    return segment


def test_an_input_with_a_graph_is_held_by_its_values_alone() -> None:
    plain = torch.zeros(3)
    carried = torch.ones(3, requires_grad=True) * 2
    segment = kept(plain, carried)
    without_graphs(segment)
    leaves = [leaf.tensor for leaf in segment.leaves.values()]
    assert leaves[0] is plain
    assert not has_graph(leaves[1])
    assert torch.equal(leaves[1], carried)
    assert leaves[1].data_ptr() == carried.data_ptr()


def test_parameters_are_not_counted() -> None:
    assert batch_bytes(kept(torch.zeros(5), nn.Parameter(torch.zeros(100)))) == 20
