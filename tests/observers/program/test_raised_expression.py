"""The expression that a program died of, as the watch takes it down."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.session import active
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.raised_expression import RaisedExpression
from tests.watching import events, under_watch

LEDGER = [f"{i / 10};{i % 2}" for i in range(24)]
LEDGER[17] = "n/a;1"


class Ledger(Dataset):
    """Lines of text, one of which has no number."""

    def __len__(self):
        return len(LEDGER)

    def __getitem__(self, i):
        value, label = LEDGER[i].split(";")
        return torch.tensor([float(value)]), int(label)


class Missing(Ledger):
    """Records of which one is not there."""

    def __init__(self):
        self.rows = {i: torch.rand(1) for i in range(24) if i != 17}

    def __getitem__(self, i):
        row = self.rows.get(i)
        return row.float(), i % 2


class Short(Ledger):
    """A program that says itself what is wrong."""

    def __getitem__(self, i):
        if i == 17:
            raise ValueError(f"record {i} is too short")
        return torch.rand(1), i % 2


def train(loader):
    model = nn.Linear(1, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(out, program, error=ValueError):
    with under_watch(out), pytest.raises(error):
        try:
            program()
        except Exception as raised:
            active().crashed(raised)
            raise
    word = RaisedExpression.word()
    (fact,) = [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == word]
    assert isinstance(fact, RaisedExpression)
    return fact


@pytest.mark.parametrize("workers", [0, 2])
def test_the_sample_and_the_value_of_a_line_of_the_dataset(tmp_path, workers):
    fact = seen(tmp_path, lambda: train(DataLoader(Ledger(), batch_size=4, num_workers=workers)))
    assert (fact.sample, fact.ref.step, fact.ref.phase) == (17, 4, "load")
    assert (fact.error, fact.message) == ("ValueError", "could not convert string to float: 'n/a'")
    assert ("value", "'n/a'") in fact.values
    assert "self" not in dict(fact.values)
    assert fact.frame.code.startswith("return torch.tensor([float(value)])")


def test_what_is_none_is_the_suspect_with_the_line_that_wrote_it(tmp_path):
    fact = seen(tmp_path, lambda: train(DataLoader(Missing(), batch_size=4)), AttributeError)
    assert (fact.suspect, dict(fact.values)["row"], fact.sample) == ("row", "None", 17)
    assert fact.made is not None
    assert fact.made.code == "row = self.rows.get(i)"


def test_what_the_program_raises_itself_is_marked(tmp_path):
    fact = seen(tmp_path, lambda: train(DataLoader(Short(), batch_size=4)))
    assert (fact.deliberate, fact.sample) == (True, 17)


def test_the_element_of_a_loop_without_a_loader(tmp_path):
    known = {str(i): i for i in range(5)}
    lines = [[str(i)] for i in range(6)]

    def program():
        for i in range(0, 6, 2):
            ids = torch.tensor([[known[word] for word in line] for line in lines[i : i + 2]])
            train([(ids.float(), torch.zeros(2, dtype=torch.long))])

    fact = seen(tmp_path, program, KeyError)
    assert fact.element is not None
    assert (fact.element.text, fact.element.index, fact.row, fact.sample) == ("lines", 5, 5, None)
    assert (fact.suspect, dict(fact.values)["word"]) == ("word", "'5'")


class Shifted(Ledger):
    """Records that are drawn with an offset below a bound."""

    def __init__(self, bound):
        self.bound = bound

    def __getitem__(self, i):
        begin = int(torch.randint(0, self.bound, (1,)))
        return torch.rand(1) + begin, i % 2


class Turned(Ledger):
    """Records with a step that may be missing."""

    def __init__(self, turns):
        self.turn = None
        if turns:
            self.turn = torch.flip

    def __getitem__(self, i):
        if i >= 0:
            return self.turn(torch.rand(1)), i % 2


def test_a_number_that_the_program_sets_itself_is_followed_and_no_record_is_at_fault(tmp_path):
    fact = seen(tmp_path, lambda: train(DataLoader(Shifted(0), batch_size=4)), RuntimeError)
    assert (fact.suspect, fact.sample, fact.values[0]) == ("self.bound", None, ("self.bound", "0"))
    assert fact.setting is not None
    assert "Shifted(0)" in fact.setting.code


def test_what_is_none_is_told_with_both_conditions_and_no_record_is_at_fault(tmp_path):
    fact = seen(tmp_path, lambda: train(DataLoader(Turned(False), batch_size=4)), TypeError)
    assert (fact.suspect, fact.sample) == ("self.turn", None)
    assert fact.made is not None
    assert fact.made.code == "self.turn = None"
    assert (fact.set_where.text, fact.used_where.text) == ("turns", "i >= 0")


class Named(Dataset):
    """Records of several lengths, by name."""

    def __init__(self, fewest):
        self.ids = [f"utt{i:03}" for i in range(24)]
        self.lengths = [fewest if i == 17 else 9 for i in range(24)]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return torch.rand(self.lengths[i])


def windows(samples):
    """Cut one window out of each sample of a batch."""
    rooms = [len(sample) - 4 for sample in samples]
    starts = [int(torch.randint(0, room, ())) for room in rooms]
    return torch.stack([sample[start : start + 4] for sample, start in zip(samples, starts, strict=True)])


def test_an_entry_for_each_sample_of_a_batch_is_told_by_its_dataset_index_and_name(tmp_path):
    def program():
        for _ in DataLoader(Named(3), batch_size=6, shuffle=True, collate_fn=windows):
            pass

    fact = seen(tmp_path, program, RuntimeError)
    assert (fact.sample, fact.files) == (17, ("utt017",))
