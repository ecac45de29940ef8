"""The leaves of a graph."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.graph.graph_walk import has_graph, leaves, numbers


def test_all_leaves_below_a_loss_and_no_other():
    used, cut, model = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1)
    x = torch.randn(2, 3, requires_grad=True)
    loss = model(used(x) + cut(x).detach()).sum()
    assert set(leaves([loss])) == {id(t) for t in (x, *used.parameters(), *model.parameters())}


def test_a_leaf_itself_and_a_constant():
    leaf = torch.zeros(1, requires_grad=True)
    assert set(leaves([leaf, torch.zeros(1)])) == {id(leaf)}


def test_a_limit_ends_the_walk():
    x = torch.zeros(1, requires_grad=True)
    y = x
    for _ in range(50):
        y = y + 1
    assert not leaves([y], most=10)


def test_the_numbers_of_the_nodes_below_a_loss_and_no_other():
    x = torch.ones(2, requires_grad=True)
    inner, other = x * 2, x * 3
    loss = inner.sum()
    assert {inner.grad_fn._sequence_nr(), loss.grad_fn._sequence_nr()} <= numbers([loss])
    assert other.grad_fn._sequence_nr() not in numbers([loss])


def test_a_view_of_which_torch_does_not_let_the_graph_be_asked_has_none():
    weight = nn.Parameter(torch.zeros(4, 4))
    with torch.no_grad():
        flat = weight.view(-1)
        flat.copy_(torch.ones(16))
        assert not has_graph(flat)
    assert not has_graph(weight) and has_graph(weight.view(-1))
