"""The line of the program that made a node of a graph."""

from __future__ import annotations

import sys

import torch
from torch import Tensor
from torch.autograd.graph import Node
from torch.distributions import Normal

from debugtracer.replay.graph_line import behind, kind_of, line_of


def told(end: Tensor, which: int = 0) -> list[str]:
    """The lines that are told of a logarithm before a tensor, oldest first."""
    assert end.grad_fn is not None
    logs = sorted((n for n in behind(end.grad_fn) if kind_of(n) == "Log"), key=number)
    return [frame.code for frame in line_of(logs[which], sys._getframe(1))]


def number(node: Node) -> int:
    return node._sequence_nr()


def one_log(p: Tensor) -> Tensor:
    q = p + 1
    return torch.log(q) * 2


def two_logs(p: Tensor) -> Tensor:
    return torch.log(p + 1) + (p + 2).log()


def one_of_a_library(p: Tensor) -> Tensor:
    dist = Normal(p, p.exp())
    return dist.log_prob(p) - torch.log(1 - p)


def unclear(p: Tensor, q: Tensor) -> Tensor:
    return Normal(p, q).log_prob(p) - torch.log(q)


def outer(p: Tensor) -> Tensor:
    return one_log(p).sum()


X = torch.rand(3)


def test_the_only_logarithm_of_what_is_called_there():
    x = X.clone().requires_grad_()
    loss = outer(x)
    assert told(loss) == ["return torch.log(q) * 2", "loss = outer(x)"]


def test_one_of_the_function_in_flight():
    x = X.clone().requires_grad_()
    loss = torch.log(x).sum()
    assert told(loss) == ["loss = torch.log(x).sum()"]


def test_two_that_may_be_meant_leave_the_line_in_flight():
    x = X.clone().requires_grad_()
    loss = two_logs(x).sum()
    assert told(loss) == ["loss = two_logs(x).sum()"]


def test_one_inside_a_library_is_not_taken_for_that_of_the_program():
    x = (X / 2).requires_grad_()
    loss = one_of_a_library(x).sum()
    assert told(loss, 0) == ["loss = one_of_a_library(x).sum()"]
    assert told(loss, 1) == ["return dist.log_prob(p) - torch.log(1 - p)", "loss = one_of_a_library(x).sum()"]


def test_two_nodes_that_fit_one_call_leave_the_line_in_flight():
    x = X.clone().requires_grad_()
    loss = unclear(x, x.exp()).sum()
    assert told(loss, 0) == told(loss, 1) == ["loss = unclear(x, x.exp()).sum()"]


def test_the_first_assignment_that_comes_from_it_is_meant():
    x = X.clone().requires_grad_()
    made, other = one_log(x), x * 2
    loss = (made + other).sum()
    assert told(loss)[1] == "made, other = one_log(x), x * 2"


def test_nothing_where_no_value_in_flight_comes_from_it():
    assert told(one_log(X.clone().requires_grad_())) == []
