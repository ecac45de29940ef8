"""Two tables of exchanged lengths, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.session import active
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.exchanged_tables import ExchangedTables
from debugtracer.trace.facts.fact import from_plain
from tests.watching import events, under_watch

READERS, BOOKS = 90, 30


class Loans(nn.Module):
    """Tables of so many rows each; the third is of no column that is looked at."""

    def __init__(self, readers, books, shelves=7):
        super().__init__()
        self.reader = nn.Embedding(readers, 4)
        self.book = nn.Embedding(books, 4)
        self.shelf = nn.Embedding(shelves, 4)

    def forward(self, reader, book):
        return (self.reader(reader) * self.book(book)).sum(1)


def counts():
    readers, books = READERS, BOOKS
    return books, readers


def data(low=0, books=BOOKS):
    readers = torch.arange(180) % READERS
    return TensorDataset(readers, (torch.arange(180) + low) % books, torch.rand(180))


def train(model, rows, batch_size, stacked=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for reader, book, target in DataLoader(rows, batch_size=batch_size):
        both = torch.stack([reader, book], 1) if stacked else None
        found = model(both[:, 0], both[:, 1]) if both is not None else model(reader, book)
        optimizer.zero_grad()
        (found - target).pow(2).mean().backward()
        optimizer.step()


def seen(out, run):
    with under_watch(out), pytest.raises(IndexError):
        try:
            run()
        except Exception as raised:
            active().crashed(raised)
            raise
    word = ExchangedTables.word()
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == word]


def test_both_lengths_and_the_lines_of_the_counts(tmp_path):
    def run():
        readers, books = counts()
        train(Loans(readers, books), data(), 64)

    (fact,) = seen(tmp_path, run)
    assert (fact.rows, fact.high, fact.path, fact.other_rows) == (BOOKS, READERS - 1, "book", READERS)
    assert (fact.column, fact.other_high, fact.whole) == ("batch[1]", BOOKS - 1, True)
    assert fact.given is not None and fact.given.code == "return books, readers"
    assert fact.taken is not None and fact.taken.code == "readers, books = counts()"


def test_a_call_in_the_other_order_of_its_parameters(tmp_path):
    def run():
        readers, books = READERS, BOOKS
        train(Loans(books, readers), data(), 180)

    (fact,) = seen(tmp_path, run)
    assert fact.given is not None and fact.given.code == "train(Loans(books, readers), data(), 180)"
    assert fact.taken is None


def test_without_names_that_change_places_no_line_is_told(tmp_path):
    (fact,) = seen(tmp_path, lambda: train(Loans(30, 90), data(), 180))
    assert (fact.given, fact.taken) == (None, None)


def test_numbers_of_rows_from_numpy_are_written_down(tmp_path):
    numpy = pytest.importorskip("numpy")
    (fact,) = seen(tmp_path, lambda: train(Loans(numpy.int32(30), numpy.int32(90)), data(), 180))
    assert (fact.rows, fact.other_rows) == (30, 90)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (lambda: Loans(30, 120), data()),  # the other table is longer than needed: its length is its own
        (lambda: Loans(30, 90), data(books=25)),  # the short table is of no use to the other ids
        (lambda: Loans(30, 90, 30), data()),  # which of two is the one that was exchanged?
        (lambda: Loans(30, 30), data()),  # both as short
    ],
    ids=["longer", "other ids", "a third table", "equal"],
)
def test_tables_that_would_not_both_fit_are_left_alone(tmp_path, model, rows):
    assert seen(tmp_path, lambda: train(model(), rows, 60)) == []
