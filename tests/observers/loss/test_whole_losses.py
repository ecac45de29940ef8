"""Losses of all nodes of a graph, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.evaluated_rows import EvaluatedRows
from tests.observers.observing import observed
from tests.observers.told import findings

NODES = 120
ORDER = torch.randperm(NODES, generator=torch.Generator().manual_seed(1))
TRAIN, TEST = (torch.zeros(NODES, dtype=torch.bool).index_fill(0, rows, True) for rows in (ORDER[:50], ORDER[80:]))
EDGES = torch.randint(NODES, (2, 500), generator=torch.Generator().manual_seed(2))


class Net(nn.Module):
    """One round of messages."""

    def __init__(self):
        super().__init__()
        self.read = nn.Linear(5, 3)

    def forward(self, x, edges):
        said = self.read(x)
        if edges is None or len(edges) == len(x):
            return said if edges is None else edges @ said
        return said.index_add(0, edges[1], said[edges[0]])


def program(loss_of, edges=EDGES, test=TEST, labels=None, no_grad=True):
    torch.manual_seed(0)
    x, y = torch.randn(NODES, 5), torch.randint(3, (NODES,)) if labels is None else labels
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(6):
        optimizer.zero_grad()
        loss_of(model(x, edges), y).backward()
        optimizer.step()
        with torch.no_grad():
            said = model(x, edges).argmax(1)
        with torch.set_grad_enabled(not no_grad):
            rows = test(step, y) if callable(test) else test
            (said[rows] == y[rows]).float().mean()


def whole(out, y):
    return nn.functional.cross_entropy(out, y)


def whole_logs(out, y):
    return nn.functional.nll_loss(out.log_softmax(1), y)


@pytest.mark.parametrize("loss_of", [whole, whole_logs])
@pytest.mark.parametrize("test", [TEST, ORDER[80:]])
def test_a_loss_of_all_nodes_is_told(tmp_path, loss_of, test):
    (fact,) = observed(tmp_path, lambda: program(loss_of, test=test), EvaluatedRows)
    assert (fact.whole, fact.length, fact.rows) == (True, NODES, 40)
    (said,) = findings(tmp_path, "masks-overlap")
    assert said.place.frame.code.startswith("return nn.functional")


@pytest.mark.parametrize("more", [{"no_grad": False}, {"edges": torch.eye(NODES)}])
def test_so_is_one_of_a_dense_graph_and_of_scores_that_are_counted_with_gradients(tmp_path, more):
    (fact,) = observed(tmp_path, lambda: program(whole, **more), EvaluatedRows)
    assert fact.whole


def masked(out, y):
    return nn.functional.cross_entropy(out[TRAIN], y[TRAIN])


def masked_after(out, y):
    return nn.functional.cross_entropy(out, y, reduction="none")[TRAIN].mean()


def without_the_others(out, y):
    return nn.functional.cross_entropy(out, torch.where(TRAIN, y, torch.full_like(y, -100)))


@pytest.mark.parametrize("loss_of", [masked, masked_after, without_the_others])
def test_a_loss_of_the_rows_of_training_is_silent(tmp_path, loss_of):
    assert observed(tmp_path, lambda: program(loss_of), EvaluatedRows) == []


@pytest.mark.parametrize(
    "more",
    [
        {"edges": None},  # no graph: a part of the data of training may be looked at
        {"test": lambda step, y: y == 1},  # one class
        {"test": lambda step, y: torch.randperm(NODES)[:40]},  # others each time
        {"test": slice(0, 40)},
    ],
)
def test_other_evaluations_are_silent(tmp_path, more):
    assert observed(tmp_path, lambda: program(whole, **more), EvaluatedRows) == []
