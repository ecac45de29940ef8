"""The probe texts."""

from __future__ import annotations

import unicodedata

import pytest

from debugtracer.errors import UsageError
from debugtracer.tokenizer.texts import BUILT_IN, about, lines


def test_there_are_more_than_a_hundred_and_none_twice():
    assert len(BUILT_IN) >= 100 and len(set(BUILT_IN)) == len(BUILT_IN)


def test_they_hold_every_kind():
    assert "" in BUILT_IN and any(len(text) > 10_000 for text in BUILT_IN)
    directions = {unicodedata.bidirectional(c) for text in BUILT_IN for c in text}
    assert {"R", "AL", "AN", "EN", "WS"} <= directions
    categories = {unicodedata.category(c) for text in BUILT_IN for c in text}
    assert {"Lu", "Mn", "Nd", "Sc", "So", "Cc", "Cf", "Zs"} <= categories


def test_each_special_token_is_met_alone_inside_a_word_and_twice():
    assert about(frozenset({"<x>"})) == ["<x>", "be<x>fore", "a <x> b", "<x><x>"]


def test_the_users_lines_keep_their_spaces_and_empty_lines(tmp_path):
    file = tmp_path / "probes.txt"
    file.write_bytes(" one \r\n\ntwo\u2028still two\n".encode())
    assert lines(file) == [" one ", "", "two\u2028still two"]


def test_an_unreadable_or_undecodable_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        lines(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(UsageError, match="is not UTF-8 \\(byte 3\\)"):
        lines(tmp_path / "latin.txt")
