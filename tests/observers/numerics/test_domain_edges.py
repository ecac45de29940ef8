"""Inputs near an edge under a real session."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.domain_edges import DomainEdges, Edge
from tests.observers.observing import observed


def edges(tmp_path, body, steps=1) -> list[Edge]:
    """What is told of a step whose loss is `body` of three small positive numbers that are learnt."""
    values = nn.Parameter(torch.tensor([1e-3, 0.5, 0.9]))
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD([*model.parameters(), values], 0.0)

    def loop():
        for _ in range(steps):
            loss = model(torch.ones(3, 2)).mean() + body(values).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return [edge for fact in observed(tmp_path / "runs", loop, DomainEdges) for edge in fact.edges]


def test_the_nearest_input_of_a_line_with_its_place(tmp_path):
    def twice(x):
        return torch.stack([part.log().sum() for part in (x, x * 2)])

    (edge,) = edges(tmp_path, twice)
    assert (edge.op, edge.kind, edge.dtype, edge.limit, edge.module) == ("log", "zero", "float32", None, None)
    assert edge.distance == pytest.approx(1e-3)
    assert edge.frame.code == "return torch.stack([part.log().sum() for part in (x, x * 2)])"


@pytest.mark.parametrize(
    ("body", "op"),
    [
        (lambda x: 1 / x, "div"),
        (lambda x: 2.0 / x, "div"),
        (lambda x: torch.ones(3) / x, "div"),
        (lambda x: x.rsqrt(), "rsqrt"),
        (lambda x: x**0.5, "pow"),
        (lambda x: torch.acos(x), "acos"),
        (lambda x: torch.exp(x), "exp"),
    ],
)
def test_each_way_of_writing_it(tmp_path, body, op):
    assert [edge.op for edge in edges(tmp_path, body)] == [op]


@pytest.mark.parametrize(
    "body",
    [
        lambda x: torch.log(x + 1e-8),
        lambda x: x.clamp(min=1e-8).log(),
        lambda x: 1 / torch.sqrt(x + 1e-12),
        lambda x: torch.where(x > 1e-2, x.log(), 0.0),
        lambda x: torch.where(x > 1e-2, x, 1.0).log(),
        lambda x: x / 2 + x**2,
        lambda x: F.log_softmax(x, 0) + F.normalize(x, dim=0) + F.layer_norm(x, (3,)),
        lambda x: torch.distributions.Normal(0.0, x).log_prob(torch.ones(3)),
        lambda x: x * torch.tensor([1e-9]).log(),
        lambda x: x.norm() + x.std(),
    ],
)
def test_what_is_guarded_or_not_learnt_or_inside_torch_is_left_alone(tmp_path, body):
    assert edges(tmp_path, body) == []


def test_an_input_on_the_edge_has_the_distance_0(tmp_path):
    (edge,) = edges(tmp_path, lambda x: (x - x).sqrt() * 0)
    assert (edge.op, edge.distance) == ("sqrt", 0.0)


def test_only_inspected_steps_are_looked_at(tmp_path):
    shrinking = iter((1.0, 0.5, 0.25, 0.125, 0.0625))
    seen = edges(tmp_path, lambda x: (x * next(shrinking)).log(), steps=5)
    assert [edge.distance for edge in seen] == pytest.approx([1e-3, 5e-4, 2.5e-4])
