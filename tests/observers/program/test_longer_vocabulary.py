"""The vocabulary of an id that an embedding refused, under a real session."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from debugtracer.callsites.refused_index import RefusedIndex
from debugtracer.callsites.stored_entries import Held
from debugtracer.observers.program.longer_vocabulary import Vocabulary, fits, tokenizer_size, tokens_added
from debugtracer.session import active
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.longer_vocabulary import LongerVocabulary
from tests.watching import events, under_watch


class Words:
    """Ids of so many words."""

    def __init__(self, count, first=0):
        self.numbers = {}
        for place in range(count):
            self.numbers[f"w{place}"] = place + first


class Reader(nn.Module):
    """A table of words, and one of places."""

    def __init__(self, rows, places):
        super().__init__()
        self.words = nn.Embedding(rows, 4)
        self.places = nn.Embedding(places, 4)

    def forward(self, ids):
        return self.words(ids) + self.places(torch.arange(len(ids)))


def train(words, rows, places, ids):
    model = Reader(rows, places)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for one in ids:
        loss = model(torch.tensor(one)).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return words


def seen(out, words, *given):
    with under_watch(out), pytest.raises(IndexError):
        try:
            train(words, *given)
        except Exception as raised:
            active().crashed(raised)
            raise
    word = LongerVocabulary.word()
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == word]


def test_the_entry_both_sizes_and_their_lines(tmp_path):
    (fact,) = seen(tmp_path, Words(30), 20, 8, ([3, 1, 4], [3, 24, 4]))
    assert (fact.name, fact.entries, fact.table, fact.number, fact.entry) == ("Words.numbers", 30, 20, 24, "'w24'")
    assert fact.filled is not None and fact.filled.code == 'self.numbers[f"w{place}"] = place + first'
    assert fact.sized is not None and fact.sized.code == "self.words = nn.Embedding(rows, 4)"
    assert not fact.resizes


def test_ids_from_1_on_need_one_row_more(tmp_path):
    (fact,) = seen(tmp_path, Words(30, 1), 20, 8, ([3, 30, 4],))
    assert (fact.entries, fact.number) == (31, 30)


@pytest.mark.parametrize(
    ("words", "rows", "places", "ids"),
    [
        (Words(30), 20, 8, [3, 99, 4]),  # no word has that id
        (Words(30), 30, 5, [3, 1, 4, 1, 5, 9]),  # the table of places refused its own
        (Words(30), 20, 32, [3, 24, 4]),  # another table is that of the words
    ],
    ids=["no word", "places", "another table"],
)
def test_ids_of_no_such_vocabulary_are_left_alone(tmp_path, words, rows, places, ids):
    assert seen(tmp_path, words, rows, places, [ids]) == []


def test_a_vocabulary_that_another_table_holds_is_not_meant():
    held = Held({}, "ids", None)
    assert fits(Vocabulary(held, 52), RefusedIndex(51, 50), [512])
    assert not fits(Vocabulary(held, 30522), RefusedIndex(600, 512), [30522, 2])
    assert not fits(Vocabulary(held, 50257), RefusedIndex(1030, 1024), [50304])
    assert not fits(Vocabulary(held, 50), RefusedIndex(51, 50), [])


def test_only_tokenizers_of_libraries_are_asked():
    assert tokenizer_size(SimpleNamespace(get_vocab_size=lambda: 5)) is None
    assert tokenizer_size({"a": 1}) is None


def test_a_tokenizer_tells_its_length_with_added_tokens():
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers.models import WordLevel

    one = tokenizers.Tokenizer(WordLevel({"a": 0, "b": 1}, unk_token="a"))
    one.add_tokens(["<new>"])
    assert tokenizer_size(one) == 3


def test_the_only_line_that_adds_tokens():
    line = tokens_added()
    assert line is None or line.code == 'one.add_tokens(["<new>"])'
