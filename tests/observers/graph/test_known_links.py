"""Links of an evaluation that the model sends messages over, in real sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.observers.graph.known_links import filled_at
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.known_links import KnownLinks
from tests.observers.observing import observed

NODES = 120
DRAW = torch.Generator().manual_seed(1)
EDGES = torch.triu(torch.rand(NODES, NODES, generator=DRAW) < 0.1, 1).nonzero().t()
EDGES = EDGES[:, torch.randperm(EDGES.shape[1], generator=DRAW)]
TRAIN, TEST = EDGES[:, 40:], EDGES[:, :40]


def both(edges):
    return torch.cat([edges, edges.flip(0)], 1)


def square(edges):
    return torch.zeros(NODES, NODES).index_put((edges[0], edges[1]), torch.tensor(1.0))


class Net(nn.Module):
    """One round of messages."""

    def __init__(self):
        super().__init__()
        self.known, self.read = nn.Embedding(NODES, 8), nn.Linear(8, 8)

    def forward(self, edges):
        said = self.read(self.known.weight)
        if len(edges) == NODES:
            return said + edges @ said
        return said.index_add(0, edges[1], said[edges[0]])


def score(said, pairs):
    return (said[pairs[0]] * said[pairs[1]]).sum(1)


def program(graph, test=TEST, train=lambda: TRAIN, joined=False):
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(6):
        said, links = model(graph), train()
        none = torch.randint(NODES, links.shape)
        if joined:
            scores = score(said, torch.cat([links, none], 1))
        else:
            scores = torch.cat([score(said, links), score(said, none)])
        right = torch.cat([torch.ones(links.shape[1]), torch.zeros(links.shape[1])])
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(scores, right).backward()
        optimizer.step()
        with torch.no_grad():
            score(model(graph), torch.cat([test, torch.randint(NODES, test.shape)], 1) if joined else test)


@pytest.mark.parametrize("graph", [both(EDGES), square(EDGES), square(EDGES).to_sparse(), EDGES.flip(0)])
@pytest.mark.parametrize("joined", [False, True])
def test_links_of_the_evaluation_in_the_graph_are_told(tmp_path, graph, joined):
    (fact,) = observed(tmp_path, lambda: program(graph, joined=joined), KnownLinks)
    assert (fact.nodes, fact.edges, fact.pairs) == (NODES, EDGES.shape[1], 80 if joined else 40)
    assert 34 <= fact.known <= 50  # of those that are drawn some are links


def apart():
    """Other links than those of the graph: what training scores is held out of the messages, too."""
    return EDGES[:, 200:]


@pytest.mark.parametrize(
    "more",
    [
        {"graph": both(TRAIN)},  # as it is meant
        {"graph": both(EDGES), "test": TRAIN[:, :40]},  # the score of training
        {"graph": both(EDGES), "train": lambda: TRAIN[:, torch.randperm(TRAIN.shape[1])[:30]]},  # batches of links
        {"graph": both(EDGES[:, :200]), "train": apart},
        {"graph": torch.ones(NODES, NODES)},  # an attention over all
    ],
)
def test_other_links_are_silent(tmp_path, more):
    assert observed(tmp_path, lambda: program(**more), KnownLinks) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("edges = read()\nmodel(edges)", [1]),
        ("adj = fill(edges)\nscale = adj.sum(1)\nadj = scale * adj\nmodel(adj)", [1, 3]),
    ],
)
def test_a_graph_that_is_computed_from_itself_is_followed_to_what_filled_it(
    tmp_path: Path, text: str, lines: list[int]
):
    (tmp_path / "train.py").write_text(text)
    call = Frame(str(tmp_path / "train.py"), len(text.splitlines()), "<module>", "")
    assert [frame.line for frame in filled_at([call], ("model",), "", 0)] == lines
