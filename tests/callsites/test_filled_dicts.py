"""Dicts that number what they hold, and the lines that fill them."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from debugtracer.callsites.filled_dicts import filling_of, number_dicts, numbers_of

SOURCE = """
class Words:
    def __init__(self, counts):
        self.ids = {}
        for place, (word, count) in enumerate(counts.items()):
            if count < 2:
                continue
            self.ids[word] = place

    def of(self, word):
        return [0, 1][self.ids[word]]


def read(counts):
    words = Words(counts)
    table = {word: at for at, word in enumerate(counts) if counts[word] > 1}
    plain = {}
    for word in counts:
        plain[word] = len(plain)
    return words.of("elm") + len(table) + len(plain)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    file = tmp_path / "words_of_trees.py"
    file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("words_of_trees", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "words_of_trees", module)
    spec.loader.exec_module(module)
    return module


def test_each_with_the_line_that_numbers_its_entries(program):
    with pytest.raises(IndexError) as raised:
        program.read({"oak": 3, "ash": 1, "elm": 4})
    found = {held.name: held for held in number_dicts(raised.value)}
    assert found["ids"].value == {"oak": 0, "elm": 2}
    assert found["ids"].where() == "Words.ids"
    lines = {name: filling_of(found[name]) for name in ("ids", "table", "plain")}
    assert [(lines[name].line.line, lines[name].loop and lines[name].loop.line) for name in lines] == [
        (8, 5), (16, 16), (19, None)
    ]  # fmt: skip


def test_what_is_no_numbering():
    assert numbers_of({"oak": 0, "elm": 0}) is None
    assert numbers_of({"oak": 0, "elm": "1"}) is None
    assert numbers_of({"oak": True, "elm": 2}) is None
    assert numbers_of({"oak": 0, "elm": 2}) == [0, 2]


KEYED = """
PAD, OOV = "<pad>", "<oov>"


class Letters:
    def __init__(self, letters):
        self.ids = {letter: at + 1 for at, letter in enumerate(letters)}
        self.ids[PAD] = 0
        self.ids[OOV] = len(self.ids) + 1
        self.ids["<end>"] = 77

    def of(self, letter):
        return [0, 1][self.ids[letter]]


def read(letters):
    return Letters(letters).of(OOV)
"""


@pytest.mark.parametrize(("key", "line"), [("<oov>", 9), ("<pad>", 8), ("<end>", 10), ("a", 7)])
def test_of_several_lines_that_which_names_the_key(tmp_path, monkeypatch, key, line):
    file = tmp_path / "letters_of_words.py"
    file.write_text(KEYED)
    spec = importlib.util.spec_from_file_location("letters_of_words", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "letters_of_words", module)
    spec.loader.exec_module(module)
    with pytest.raises(IndexError) as raised:
        module.read("abc")
    (held,) = [held for held in number_dicts(raised.value) if held.name == "ids"]
    filling = filling_of(held, key)
    assert filling is not None and filling.line.line == line
