"""Unknown words among the ids of a table, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from debugtracer import session
from debugtracer.observers.data.unknown_words import alike
from debugtracer.trace.facts.unknown_words import UnknownWords
from tests.observers.told import facts, findings
from tests.watching import under_watch

NAMES = [f"w{number}" for number in range(40)]


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Net(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.table, self.out = nn.Embedding(rows, 4), nn.Linear(4, 1)

    def forward(self, *texts):
        return sum(self.out(self.table(text).mean(1)) for text in texts)


def numbered(words, special=("<pad>", "<unk>")):
    return {word: number for number, word in enumerate((*special, *words))}


def trained(folder, words, texts, rows=0):
    torch.manual_seed(0)
    number = torch.tensor([words.get(name, 1) for name in NAMES])
    data = [tuple(number[text(at)] for text in texts) for at in range(90)]
    net = Net(len(words) + rows)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    with under_watch(folder):
        for batch in DataLoader(data, batch_size=15):
            loss = net(*batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def anything(at):
    return torch.randint(0, 40, (20,))


def low(at):
    return torch.randint(0, 20, (20,))


def test_most_words_are_unknown(tmp_path):
    trained(tmp_path, numbered(NAMES[:10]), [anything])
    fact = facts(tmp_path, UnknownWords)[0]
    assert (fact.name, fact.entries, fact.spelt, fact.number, fact.columns) == ("words", 12, "<unk>", 1, ("batch[0]",))
    assert fact.words == (300,) and fact.unknown[0] > 180
    assert len(findings(tmp_path, "data/words-unknown")) == 1


def test_one_text_is_known_and_the_other_one_is_not(tmp_path):
    trained(tmp_path, numbered(NAMES[:20]), [low, anything])
    fact = facts(tmp_path, UnknownWords)[0]
    assert fact.unknown[0] == 0 < fact.unknown[1] and fact.shared[1] == 300 - fact.unknown[1]
    assert len(findings(tmp_path, "data/words-unknown")) == 1


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (numbered(NAMES[:10], ("<pad>", "unique")), 0),  # no word for unknown ones
        (numbered(NAMES[:10]), 9),  # a table of something else
    ],
)
def test_other_tables_are_left_alone(tmp_path, words, rows):
    trained(tmp_path, words, [anything], rows)
    assert facts(tmp_path, UnknownWords) == []


def test_a_vocabulary_that_knows_all_is_quiet(tmp_path):
    trained(tmp_path, numbered(NAMES), [low, anything])
    assert findings(tmp_path, "data/words-unknown") == []


def test_words_left_out_of_a_copy_are_no_unknown_words():
    text = torch.randint(2, 99, (8, 20))
    dropped = text.masked_fill(torch.rand(8, 20) < 0.4, 1)
    assert alike(text, dropped)
    assert alike(text[:, 1:], dropped[:, :-1])
    assert not alike(text, torch.randint(2, 99, (8, 20)))
    assert not alike(text, text[:, :5])


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    net = Net(40)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["unknown-words"]
        net(torch.randint(0, 40, (4, 5)))
        assert observer.lookups
        session.dispatcher.missed()
        assert not observer.lookups
