"""Which leaves a backward reaches past a network."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.graph.passing_through import leaf_of, reached_past


def ids(module: nn.Module) -> set[int]:
    return {id(p) for p in module.parameters()}


def test_a_generator_is_reached_through_its_critic_alone():
    torch.manual_seed(0)
    made, critic = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU(), nn.Linear(4, 1))
    loss = critic(made(torch.randn(2, 3))).mean()
    assert not reached_past([loss], ids(critic)) & ids(made)
    assert ids(made) <= reached_past([loss], set())
    assert ids(critic) <= reached_past([loss], ids(made))


def test_a_head_is_reached_past_the_body_and_a_skip_past_the_critic():
    torch.manual_seed(0)
    body, head = nn.Linear(3, 4), nn.Linear(4, 1)
    inner = body(torch.randn(2, 3))
    assert ids(head) <= reached_past([head(inner).mean()], ids(body))
    assert ids(body) <= reached_past([head(inner).mean() + inner.mean()], ids(head))


def test_the_leaf_behind_a_transpose():
    weight = nn.Parameter(torch.ones(2, 3))
    assert leaf_of(weight.t().grad_fn) is weight
    assert leaf_of((weight.t() @ weight).grad_fn) is None
    assert leaf_of(None) is None
