"""What becomes of the nearest rows of a set in itself, read from functions that run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from debugtracer.callsites.neighbour_use import NeighbourUse, are_classes

ROWS = 24
LABELS = torch.arange(6).repeat(4)
asked: list[bool] = []


class Distances(Tensor):
    """Ranks as a tensor does, and asks at that moment."""

    def topk(self, k: int, dim: int = -1, largest: bool = False) -> Any:  # type: ignore[override]
        asked.append(NeighbourUse(ROWS).counts_all(sys._getframe(1)))
        return Tensor.topk(self.as_subclass(Tensor), k, dim, largest)  # type: ignore[call-overload]

    def argmin(self, dim: int = 1) -> Any:  # type: ignore[override]
        asked.append(NeighbourUse(ROWS).counts_all(sys._getframe(1)))
        return Tensor.argmin(self.as_subclass(Tensor), dim)


def counts(measure: Callable[[Any, Tensor], Any]) -> bool:
    """Whether a measure was read as counting all nearest rows."""
    asked.clear()
    points = torch.randn(ROWS, 3)
    measure(torch.cdist(points, points).as_subclass(Distances), LABELS)
    return asked[-1]


def one_line(distances: Any, labels: Tensor) -> Tensor:
    return (labels[distances.topk(3)[1]] == labels[:, None]).float().mean()


def named(distances: Any, labels: Tensor) -> Tensor:
    _, nearest = distances.topk(3)
    found = labels[nearest.cpu()]
    return found.eq(labels.view(-1, 1)).any(1).float().mean()


def nearest_alone(distances: Any, labels: Tensor) -> Tensor:
    predicted = labels[distances.argmin(1)]
    return (predicted == labels).float().mean()


def gathered(distances: Any, labels: Tensor) -> Tensor:
    nearest = distances.topk(3).indices
    votes = torch.gather(labels.expand(ROWS, ROWS), 1, nearest).mode(1).values
    return (votes == labels).float().mean()


def by_hand(distances: Any, labels: Tensor) -> float:
    right = 0
    for n, row in enumerate(distances.topk(3).indices):
        called = Counter(labels[j].item() for j in row).most_common(1)[0][0]
        right += called == labels[n].item()
    return right / ROWS


def neighbours_of(distances: Any, labels: Tensor, k: int) -> Any:
    nearest = distances.topk(k)[1]
    return np.array([[labels[j] for j in row] for row in nearest])


def recall(labels: Any, found: Any, k: int) -> float:
    return sum(1 for t, y in zip(labels, found, strict=True) if t in y[:k]) / len(labels)


def in_other_functions(distances: Any, labels: Tensor) -> float:
    found = neighbours_of(distances, labels, 3)
    return recall(labels.numpy(), found, 2)


COUNTED = [one_line, named, nearest_alone, gathered, by_hand, in_other_functions]


@pytest.mark.parametrize("measure", COUNTED)
def test_all_are_counted(measure: Callable[[Any, Tensor], Any]) -> None:
    assert counts(measure)


def sliced(distances: Any, labels: Tensor) -> Tensor:
    return (labels[distances.topk(4)[1][:, 1:]] == labels[:, None]).float().mean()


def hits_sliced(distances: Any, labels: Tensor) -> Tensor:
    hits = labels[distances.topk(4)[1]] == labels[:, None]
    return hits[:, 1:].float().mean()


def second_column(distances: Any, labels: Tensor) -> Tensor:
    nearest = distances.topk(2)[1]
    return (labels[nearest[:, 1]] == labels).float().mean()


def one_taken_off(distances: Any, labels: Tensor) -> Tensor:
    hits = labels[distances.topk(4)[1]] == labels[:, None]
    return ((hits.sum(1) - 1) / 3).mean()


def passed_by(distances: Any, labels: Tensor) -> int:
    right = 0
    for n, row in enumerate(distances.topk(4)[1].tolist()):
        right += sum(labels[j] == labels[n] for j in row if j != n)
    return int(right)


def masked(distances: Any, labels: Tensor) -> Tensor:
    nearest = distances.topk(4)[1]
    own = nearest == torch.arange(ROWS)[:, None]
    return (labels[nearest] == labels[:, None])[~own].float().mean()


def later_columns(distances: Any, labels: Tensor) -> float:
    found = neighbours_of(distances, labels, 4)
    return recall(labels.numpy(), found[:, 1:], 2)


def later_range(distances: Any, labels: Tensor) -> float:
    nearest = distances.topk(4)[1]
    return sum((labels[nearest[:, c]] == labels).float().mean().item() for c in range(1, 4))


def graph(distances: Any, labels: Tensor) -> Tensor:
    nearest = distances.topk(3)[1]
    return torch.stack([torch.arange(ROWS).repeat_interleave(3), nearest.reshape(-1)])


def features(distances: Any, labels: Tensor) -> Tensor:
    x = torch.randn(ROWS, 2)
    return x[distances.topk(3)[1]].mean(1) == 0


@pytest.mark.parametrize(
    "measure",
    [sliced, hits_sliced, second_column, one_taken_off, passed_by, masked, later_columns, later_range, graph, features],
)
def test_one_is_left_out_or_no_label_is_looked_up(measure: Callable[[Any, Tensor], Any]) -> None:
    assert not counts(measure)


@pytest.mark.parametrize(
    ("held", "classes"),
    [
        (LABELS, True), (LABELS.numpy(), True), (LABELS.tolist(), True), (torch.arange(ROWS), False),
        (torch.zeros(ROWS, dtype=torch.long), False), (LABELS.float(), False), (LABELS[:-1], False), (None, False),
    ],
)  # fmt: skip
def test_what_is_a_class_for_each_row(held: Any, classes: bool) -> None:
    assert are_classes(held, ROWS) is classes
