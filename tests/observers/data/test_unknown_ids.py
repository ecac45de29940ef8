"""Ids of a batch beside the vocabulary that its dataset holds, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.unknown_ids import UnknownIds
from tests.watching import events, under_watch


class Pairs(Dataset):
    """Two names a row, and how often they met."""

    def __init__(self, rows, ids, others=None):
        self.rows, self.ids, self.others = rows, ids, others or {}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        first, second = self.rows[at]
        return self.ids.get(first, len(self.ids)), self.ids.get(second, len(self.ids)), 1.0


class Met(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(64, 4)

    def forward(self, first, second):
        return (self.table(first) * self.table(second)).sum(1)


def numbered(names):
    return {name: number for number, name in enumerate(names)}


ROWS = [(f"n{i % 40}", f"n{(i * 7) % 40}") for i in range(96)]


def seen(out, data):
    model = Met()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for first, second, count in DataLoader(data, batch_size=32):
            loss = (model(first, second) - count.float()).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    word = UnknownIds.word()
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == word]


def test_both_columns_the_id_and_the_line_of_the_vocabulary(tmp_path):
    known = numbered([f"n{i}" for i in range(12)])
    data = Pairs(ROWS, known)
    facts = seen(tmp_path, Subset(data, range(96)))
    assert facts
    first = facts[0]
    assert (first.name, first.entries) == ("Pairs.ids", 12)
    assert (first.columns, first.unknown, first.rows) == (("batch[0]", "batch[1]"), (20, 21), 32)
    assert first.frame is not None and first.made is not None


@pytest.mark.parametrize(
    "data",
    [
        Pairs(ROWS, numbered([f"n{i}" for i in range(40)])),  # all are known
        Pairs(ROWS, {f"n{i}": i * 3 for i in range(12)}),  # ids with gaps
        Pairs(ROWS, numbered([f"n{i}" for i in range(12)]), numbered(range(30))),  # id 12 is one of another dict
        Pairs(ROWS, numbered([f"n{i}" for i in range(12)]), numbered(range(12))),  # which of the two is not known
        Pairs(ROWS, numbered([f"n{i}" for i in range(4)])),  # too few
    ],
    ids=["known", "gaps", "longer", "as long", "few"],
)
def test_ids_of_a_vocabulary_are_no_news(tmp_path, data):
    assert seen(tmp_path, data) == []
