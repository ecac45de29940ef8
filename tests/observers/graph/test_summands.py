"""The summands of a loss, by its graph."""

from __future__ import annotations

import torch

from debugtracer.observers.graph.summands import hanging, summands


def three() -> list[torch.Tensor]:
    return [torch.rand(3, requires_grad=True) for _ in range(3)]


def test_sums_are_taken_apart_and_factors_are_passed():
    a, b, c = three()
    loss = 0.5 * (a.exp().sum() - 2.0 * b.mean()) / 3 + 1.0 + (1 - c.sum())
    nodes = summands([loss], 16)
    found = [hanging(node, 100) for node in nodes]
    assert [f[0] for f in found if f is not None] == [{id(a)}, {id(b)}, {id(c)}]


def test_a_product_of_two_graphs_is_one_summand():
    a, b, _ = three()
    assert len(summands([a.sum() * b.sum()], 16)) == 1


def test_several_losses_a_leaf_and_a_constant():
    a, b, c = three()
    scale = torch.ones((), requires_grad=True)
    assert len(summands([a.sum(), b.sum() + scale, torch.ones(()), c * 2], 16)) == 3


def test_many_summands_and_a_large_graph_are_left_alone():
    a, _, _ = three()
    assert summands([sum(a.sum() for _ in range(9))], 8) == []
    (node,) = summands([a.exp().exp().exp().sum()], 8)
    assert hanging(node, 3) is None
    assert hanging(node, 5) is not None


def test_joined_parts_are_passed_where_that_is_asked_for():
    one, other = (torch.ones(3, requires_grad=True) for _ in range(2))
    loss = (one.square() + 2 * other.square()).mean()
    assert len(summands([loss], 8)) == 1
    assert [node.name() for node in summands([loss], 8, joined=True)] == ["PowBackward0"] * 2
    assert len(summands([torch.stack([one.sum(), other.sum()]).sum()], 8, joined=True)) == 2


def test_what_hangs_on_a_node_does_not_go_past_those_that_are_left_out():
    leaf = torch.ones(3, requires_grad=True)
    inner = leaf.exp()
    loss = inner.square().sum()
    number = inner.grad_fn._sequence_nr()
    assert hanging(loss.grad_fn, 99) == ({id(leaf)}, hanging(loss.grad_fn, 99)[1])
    leaves, numbers = hanging(loss.grad_fn, 99, {number})
    assert leaves == set() and number in numbers
