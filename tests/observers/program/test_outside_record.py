"""The sample whose number an index was made of that was refused, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.callsites.refused_index import RefusedIndex
from debugtracer.observers.program.outside_record import numbers_of, odd_of
from debugtracer.session import active
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.outside_record import OutsideRecord
from tests.watching import events, under_watch


class Trees(Dataset):
    """Trees with a sort each, of which some have one that is not known."""

    def __init__(self, unknown, count=80):
        self.names = [f"tree{i:03d}" for i in range(count)]
        self.sorts = [4 if i in unknown else i % 4 for i in range(count)]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        return torch.rand(3), self.sorts[i]


def train(loader, rows, added=0):
    model = nn.Linear(3, rows)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = (model(x) - torch.eye(rows)[y + added]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(out, *args, program=train):
    torch.manual_seed(1)  # of one order in twenty the batch itself does not tell
    with under_watch(out), pytest.raises(IndexError):
        try:
            program(*args)
        except Exception as raised:
            active().crashed(raised)
            raise
    word = OutsideRecord.word()
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == word]


@pytest.mark.parametrize(("rows", "added"), [(4, 0), (5, 1)])
def test_the_sample_of_the_batch_and_what_others_hold(tmp_path, rows, added):
    (fact,) = seen(tmp_path, DataLoader(Trees({61}), batch_size=8, shuffle=True), rows, added)
    assert (fact.samples, fact.value, fact.number, fact.size) == ((61,), 4, 4 + added, rows)
    assert (fact.path, fact.low, fact.high, fact.name, fact.alike) == ("[1]", 0, 3, "tree061", 0)
    assert fact.made.code.startswith("return torch.rand(3), self.sorts[i]") or "self.sorts" in fact.made.code


def test_a_class_of_which_there_are_more_to_come(tmp_path):
    (fact,) = seen(tmp_path, DataLoader(Trees(set(range(40, 80, 4))), batch_size=8), 4)
    assert (fact.samples, fact.alike) == ((40, 44), 8)


def test_a_sample_of_a_subset(tmp_path):
    part = Subset(Trees({61}), range(79, 19, -1))
    (fact,) = seen(tmp_path, DataLoader(part, batch_size=8), 4) or [None]
    assert fact is None or (fact.samples, fact.name) == ((18,), "tree061")


class Leaves(Trees):
    """The same, read from a table whose records have no names, with a class below 0."""

    def __init__(self, file):
        self.sorts = [int(line.split(",")[1]) for line in file.read_text().splitlines()[1:]]
        self.names, self.file = self.sorts, str(file)


def test_a_class_below_0_and_the_line_of_a_table_without_names(tmp_path):
    sorts = [-1 if i == 61 else (i * 7 + i // 5) % 4 for i in range(80)]
    table = tmp_path / "leaves.csv"
    table.write_text("width,sort\n" + "".join(f"{i % 9},{sort}\n" for i, sort in enumerate(sorts)))

    def losses(loader):
        model = nn.Linear(3, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

    (fact,) = seen(tmp_path / "run", DataLoader(Leaves(table), batch_size=8), program=losses)
    assert (fact.samples, fact.value, fact.low, fact.lookup) == ((61,), -1, 0, False)
    assert (fact.record.file, fact.record.line, fact.record.code) == (str(table), 63, "7,-1")


def test_the_first_batch_has_nothing_to_compare_with(tmp_path):
    assert seen(tmp_path, DataLoader(Trees({3}), batch_size=8), 4) == []


def test_the_whole_numbers_of_a_sample():
    sample = {"box": torch.tensor([[3, 9]]), "sort": 2, "mask": torch.tensor([True]), "name": "oak", "x": torch.rand(2)}
    assert numbers_of(sample) == {"['box']": (3, 9), "['sort']": (2, 2)}
    assert numbers_of((torch.rand(2), [1, 2, 3, 4, 5])) == {"[1]": (1, 5)}


def test_two_places_that_may_be_meant_are_none():
    before = {i: {"[0]": (0, 3), "[1]": (1, 3)} for i in range(8)}
    own = {9: {"[0]": (0, 2), "[1]": (4, 4)}, 10: {"[0]": (1, 1), "[1]": (1, 1)}}
    assert odd_of(own, before, RefusedIndex(4, 4)).samples == [9]
    own[9]["[0]"] = (4, 4)
    assert odd_of(own, before, RefusedIndex(4, 4)) is None
