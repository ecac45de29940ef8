"""Nearest rows of a set in itself, in evaluations of a real session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.own_neighbour import OwnNeighbour
from tests.observers.observing import observed

LABELS = torch.arange(6).repeat(4)
Measure = Callable[[Tensor, Tensor], Tensor]


def found(out: Path, measure: Measure, steps: int = 6) -> list[OwnNeighbour]:
    """What a measure of the vectors after some steps emits."""

    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Linear(3, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x = torch.randn(24, 3)
        for _ in range(steps):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
        with torch.no_grad():
            vectors = model(x)
        for _ in range(3):
            measure(vectors, LABELS)

    return observed(out, loop, OwnNeighbour)


def recall(vectors: Tensor, labels: Tensor) -> Tensor:
    nearest = torch.cdist(vectors, vectors).topk(3, largest=False)[1]
    return (labels[nearest] == labels[:, None]).any(1).float().mean()


def similar(vectors: Tensor, labels: Tensor) -> Tensor:
    vectors = nn.functional.normalize(vectors, dim=1)
    return (labels[torch.argsort(vectors @ vectors.T, dim=1, descending=True)[:, :2]] == labels[:, None]).float().mean()


def one(vectors: Tensor, labels: Tensor) -> Tensor:
    return (labels[torch.cdist(vectors, vectors).min(1).indices] == labels).float().mean()


@pytest.mark.parametrize(
    ("measure", "function", "neighbours"), [(recall, "topk", 3), (similar, "argsort", 24), (one, "min", 1)]
)
def test_a_query_among_its_neighbours_is_told_once(
    tmp_path: Path, measure: Measure, function: str, neighbours: int
) -> None:
    (fact,) = found(tmp_path / "runs", measure)
    assert (fact.function, fact.rows, fact.neighbours, fact.own) == (function, 24, neighbours, 24)
    assert fact.frame is not None and fact.frame.function == measure.__name__


def filled(vectors: Tensor, labels: Tensor) -> Tensor:
    distances = torch.cdist(vectors, vectors)
    distances.fill_diagonal_(float("inf"))
    return (labels[distances.topk(3, largest=False)[1]] == labels[:, None]).any(1).float().mean()


def first_dropped(vectors: Tensor, labels: Tensor) -> Tensor:
    nearest = torch.cdist(vectors, vectors).topk(4, largest=False)[1][:, 1:]
    return (labels[nearest] == labels[:, None]).any(1).float().mean()


def two_views(vectors: Tensor, labels: Tensor) -> Tensor:
    """Each row is the right answer for its partner."""
    other = vectors + 1e-4 * torch.arange(1, 5)
    return (labels[torch.cdist(vectors, other).argmin(1)] == labels).float().mean()


def graph(vectors: Tensor, labels: Tensor) -> Tensor:
    return torch.cdist(vectors, vectors).topk(3, largest=False)[1].reshape(-1)


@pytest.mark.parametrize("measure", [filled, first_dropped, two_views, graph])
def test_silent(tmp_path: Path, measure: Measure) -> None:
    assert found(tmp_path / "runs", measure) == []
