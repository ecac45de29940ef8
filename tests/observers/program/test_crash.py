"""What is taken down when a program dies."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.events import Found, Observed
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.facts.fact import from_plain
from tests.watching import events, under_watch

WORDS = r"out of bounds|cannot be multiplied|equal size|greater than 0"


def crash_of(out: Path, program) -> Crash:
    """The fact of a program that dies under watch."""
    with (
        under_watch(out) as session,
        pytest.raises(
            (RuntimeError, IndexError), match=r"out of bounds|cannot be multiplied|equal size|greater than 0"
        ) as raised,
    ):
        program()
    assert session is not None
    told = [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == "crash/Crash"]
    assert raised.value is not None
    (fact,) = told
    assert isinstance(fact, Crash)
    return fact


def dying(program):
    """A program whose exception is given to the session as its end would."""
    from debugtracer.session import active

    def run() -> None:
        try:
            program()
        except Exception as error:
            active().crashed(error)
            raise

    return run


def step(model, optimizer, x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def test_labels_rows_and_samples_of_the_failing_loss(tmp_path):
    labels = torch.tensor([0, 1, 2, 0, 1, 3])
    loader = None

    def program():
        model = nn.Sequential(nn.Linear(2, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in DataLoader(TensorDataset(torch.randn(6, 2), labels), batch_size=3):
            step(model, optimizer, x, y)

    fact = crash_of(tmp_path / "runs", dying(program))
    assert loader is None
    assert (fact.error, fact.message, fact.ref.iteration) == ("IndexError", "Target 3 is out of bounds.", 1)
    assert fact.torch_calls[0] == "cross_entropy"
    assert fact.rows is not None
    assert (fact.rows.values, fact.rows.indices) == (((0, 0), (1, 1), (3, 3)), (3, 4, 5))
    assert {t.name: t.shape for t in fact.tensors}["input"] == (3, 3)
    assert fact.batch is not None
    assert (fact.batch.rows, fact.batch.indices, fact.batch.batch_size) == (3, (3, 4, 5), 3)


def test_the_module_its_settings_and_the_line_that_called_it(tmp_path):
    def program():
        model = nn.Sequential(nn.Linear(2, 3), nn.Linear(4, 3))
        step(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.randn(3, 2), torch.tensor([0, 1, 2]))

    fact = crash_of(tmp_path / "runs", dying(program))
    assert (fact.modules[0].path, fact.modules[0].kind, fact.modules[0].sizes["in_features"]) == ("1", "Linear", 4)
    assert fact.call is not None
    assert fact.call.code == "loss = nn.functional.cross_entropy(model(x), y)"
    assert (fact.ref.iteration, fact.fetching) == (0, False)


def test_a_fetch_that_fails_belongs_to_the_next_iteration(tmp_path):
    samples = [(torch.zeros(2), 0)] * 3 + [(torch.zeros(3), 1)]

    def program():
        model = nn.Sequential(nn.Linear(2, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in DataLoader(samples, batch_size=2):
            step(model, optimizer, x, y)

    fact = crash_of(tmp_path / "runs", dying(program))
    assert (fact.fetching, fact.ref.iteration) == (True, 1)
    assert [(s.index, dict(s.shapes)["sample[0]"]) for s in fact.samples] == [(2, "(2,) float32"), (3, "(3,) float32")]
    (found,) = [
        e.finding
        for e in events(tmp_path / "runs")
        if isinstance(e, Found) and e.finding.check == "data/ragged-samples"
    ]
    assert found.place.sample_index is not None


def test_ids_that_were_computed_from_a_leaf_of_their_shape_name_its_samples(tmp_path):
    ids = torch.tensor([[0, 1], [2, 0], [1, 4], [0, 3]])
    table = nn.Embedding(8, 4)

    def program():
        for (batch,) in DataLoader(TensorDataset(ids), batch_size=2):
            table(batch + torch.tensor([0, 4]))

    with under_watch(tmp_path) as session, pytest.raises(IndexError):
        dying(program)()
    assert session is not None
    (fact,) = [
        from_plain(e.word, e.fact) for e in events(tmp_path) if isinstance(e, Observed) and e.word == "crash/Crash"
    ]
    assert isinstance(fact, Crash) and fact.rows is not None
    assert (fact.rows.values, fact.rows.indices) == (((1, 8), (0, 7)), (2, 3))


def test_lengths_that_packing_has_sorted_are_those_of_the_batch(tmp_path):
    lengths = torch.tensor([3, 1, 2, 4, 2, 0, 1, 3])

    def program():
        model = nn.GRU(2, 3, batch_first=True)
        for x, many in DataLoader(TensorDataset(torch.ones(8, 4, 2), lengths), batch_size=4):
            model(nn.utils.rnn.pack_padded_sequence(x, many, batch_first=True, enforce_sorted=False))

    crash = crash_of(tmp_path, dying(program))
    assert crash.rows is not None and crash.rows.name == "lengths"
    assert [values[0] for values in crash.rows.values] == [2, 0, 1, 3] and crash.rows.indices == (4, 5, 6, 7)


def longest_first(samples):
    """Sort by length, longest first, and pad."""
    samples = sorted((x for (x,) in samples), key=len, reverse=True)
    return nn.utils.rnn.pad_sequence(samples, batch_first=True), torch.tensor([len(x) for x in samples])


class Words(torch.utils.data.Dataset):
    """Texts of different lengths, one of them empty, or with an id that the table has not."""

    def __init__(self, *sizes, high=-1):
        self.sizes, self.high = sizes, high

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, index):
        ids = torch.arange(self.sizes[index]) + index
        return (ids if index != self.high else ids + 40,)


def test_the_sample_of_a_row_that_a_collate_fn_has_sorted_is_proved_by_its_values(tmp_path):
    loader = DataLoader(Words(2, 0, 5, 3), batch_size=4, collate_fn=longest_first)

    def program():
        ids, many = next(iter(loader))
        nn.utils.rnn.pack_padded_sequence(nn.functional.one_hot(ids, 9).float(), many, batch_first=True)

    crash = crash_of(tmp_path, dying(program))
    assert crash.rows is not None and [values[0] for values in crash.rows.values] == [5, 3, 2, 0]
    assert crash.rows.indices == (2, 3, 0, 1)


def joined(samples):
    """Bags of ids, one behind the other, and where each begins."""
    bags = [x for (x,) in samples]
    return torch.cat(bags), torch.tensor([0, *(len(x) for x in bags[:-1])]).cumsum(0)


def test_the_sample_of_an_id_in_a_joined_batch(tmp_path):
    loader, table = DataLoader(Words(2, 3, 1, 4, high=3), batch_size=4, collate_fn=joined), nn.EmbeddingBag(9, 2)

    def program():
        table(*next(iter(loader)))

    with under_watch(tmp_path), pytest.raises((RuntimeError, IndexError)):
        dying(program)()
    (fact,) = [
        from_plain(e.word, e.fact) for e in events(tmp_path) if isinstance(e, Observed) and e.word == "crash/Crash"
    ]
    assert isinstance(fact, Crash) and fact.rows is not None
    assert fact.rows.indices == (0, 0, 1, 1, 1, 2, 3, 3, 3, 3)
