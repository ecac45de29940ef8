"""Dicts that number words, as a running function reaches them."""

from __future__ import annotations

from debugtracer.callsites.word_tables import is_table, made_at, word_tables

WORDS = [f"w{number}" for number in range(12)]


class Texts:
    def __init__(self, table):
        self.vocabulary = table


def numbered(words, first=0):
    return {word: number for number, word in enumerate(words, first)}


def test_what_numbers_words():
    assert is_table(numbered(WORDS)) and is_table(numbered(WORDS, 1))
    assert not is_table(numbered(WORDS, 2))
    assert not is_table(numbered(WORDS[:7]))
    assert not is_table({**numbered(WORDS), "other": 3})
    assert not is_table({**numbered(WORDS), "other": 99})
    assert not is_table({number: number for number in range(12)})
    assert not is_table(WORDS)


def test_it_is_found_with_the_line_that_made_it():
    table = numbered(WORDS)
    (found,) = [one for one in word_tables() if one.ids is table]
    made = made_at(found.held)
    assert found.held.where() == "table"
    assert made is not None and made.function == "test_it_is_found_with_the_line_that_made_it"


def test_it_is_found_in_an_object():
    texts = Texts(numbered(WORDS))
    found = word_tables((texts,))
    assert [one.held.where() for one in found if one.ids is texts.vocabulary] == ["Texts.vocabulary"]


def test_a_name_of_a_function_comes_before_what_an_object_holds():
    table = numbered(WORDS)
    texts = Texts(table)
    (found,) = [one for one in word_tables((texts,)) if one.ids is table]
    assert found.held.where() == "table"
