"""Lists of pairs that become two rows, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.permuted_view import PermutedView
from tests.observers.observing import observed
from tests.observers.told import findings

NODES = 60
PAIRS = [*torch.randint(NODES, (200, 2), generator=torch.Generator().manual_seed(1)).tolist(), [0, NODES - 1]]


class Net(nn.Module):
    """One round of messages, or the mean of words."""

    def __init__(self):
        super().__init__()
        self.read, self.words = nn.Linear(5, 3), nn.Embedding(NODES, 3)

    def forward(self, x, edges):
        if x is None:
            return self.words(edges).mean(1)
        said = self.read(x)
        return said.index_add(0, edges[1], said[edges[0]])


def program(make, bare=False):
    torch.manual_seed(0)
    edges, x = make(torch.tensor(PAIRS)), None if bare else torch.randn(NODES, 5)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        model(x, edges).square().mean().backward()
        optimizer.step()


@pytest.mark.parametrize("make", [lambda pairs: pairs.view(2, -1), lambda pairs: pairs.reshape(2, 201).contiguous()])
def test_pairs_that_become_two_rows_are_told(tmp_path, make):
    (fact,) = observed(tmp_path, lambda: program(make), PermutedView)
    assert (fact.shape, fact.result, fact.reader) == ((201, 2), (2, 201), "Net")
    assert fact.frame.code.startswith("@pytest") and fact.reader_frame.code.startswith("model(x, edges)")
    assert [one.severity for one in findings(tmp_path, "view-permuted")] == ["warning"]


@pytest.mark.parametrize(
    "make", [lambda pairs: pairs.t(), lambda pairs: pairs.t().contiguous(), lambda pairs: pairs.t().reshape(2, -1)]
)
def test_a_transpose_is_silent(tmp_path, make):
    assert observed(tmp_path, lambda: program(make), PermutedView) == []


def test_two_rows_that_are_no_connections_are_silent(tmp_path):
    assert observed(tmp_path, lambda: program(lambda pairs: pairs.view(2, -1), bare=True), PermutedView) == []


def test_pairs_both_ways_one_half_after_the_other_are_the_same_as_rows(tmp_path):
    def make(pairs):
        return torch.cat([pairs, pairs.flip(1)]).view(2, -1)

    assert observed(tmp_path, lambda: program(make), PermutedView) == []
