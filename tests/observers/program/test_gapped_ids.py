"""The dict of ids that a refused index came from, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.session import active
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.gapped_ids import GappedIds
from tests.watching import events, under_watch


class Words:
    """Ids counted over all words, of which every third is left out."""

    def __init__(self, gaps):
        self.ids = {}
        for place in range(30):
            if place % 3 == 2:
                continue
            self.ids[f"w{place}"] = place if gaps else len(self.ids)


def train(words, rows):
    table = nn.Embedding(rows, 4)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    for word in words.ids:
        loss = table(torch.tensor([words.ids[word]])).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(out, words, rows):
    with under_watch(out), pytest.raises(IndexError):
        try:
            train(words, rows)
        except Exception as raised:
            active().crashed(raised)
            raise
    word = GappedIds.word()
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == word]


def test_the_entry_and_the_loop_that_counts(tmp_path):
    (fact,) = seen(tmp_path, Words(gaps=True), 20)
    assert (fact.number, fact.size, fact.entry, fact.name) == (21, 20, "'w21'", "Words.ids")
    assert (fact.entries, fact.low, fact.high, fact.ref.step) == (20, 0, 28, 14)
    assert fact.filled.code.startswith("self.ids[")


def test_a_table_that_is_too_short_for_the_words_is_another_fault(tmp_path):
    assert seen(tmp_path, Words(gaps=False), 12) == []


class Shelf(nn.Module):
    """A table with a row for padding, of a size that was counted elsewhere."""

    def __init__(self, size):
        super().__init__()
        self.table = nn.Embedding(size, 4, padding_idx=0)

    def forward(self, ids):
        return self.table(ids)


class Begun:
    """Ids that begin behind padding and the unknown word."""

    def __init__(self):
        self.ids = {f"w{place}": place + 2 for place in range(20)}


def test_a_size_that_forgets_the_rows_before_the_entries(tmp_path):
    words = Begun()

    def program():
        short = len(words.ids) + 1
        shelf = Shelf(short)
        for word in words.ids:
            shelf(torch.tensor([words.ids[word], 0])).sum().backward()

    with under_watch(tmp_path), pytest.raises(IndexError):
        try:
            program()
        except Exception as raised:
            active().crashed(raised)
            raise
    name = GappedIds.word()
    (fact,) = [from_plain(e.word, e.fact) for e in events(tmp_path) if isinstance(e, Observed) and e.word == name]
    assert (fact.number, fact.size, fact.low, fact.below) == (21, 21, 2, 0)
    assert fact.sized is not None
    assert fact.sized.code == "short = len(words.ids) + 1"
