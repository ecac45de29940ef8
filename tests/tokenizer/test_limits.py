"""Padding and truncation."""

from __future__ import annotations

from debugtracer.tokenizer.limits import padding, truncation
from debugtracer.tokenizer.loaded import load
from tests.tokenizer.building import a_tokenizer


def pair(tmp_path, one, two):
    return load(a_tokenizer(tmp_path / "a", **one)), load(a_tokenizer(tmp_path / "b", **two))


def test_left_padding_in_serving_is_a_note_and_the_reverse_a_difference(tmp_path):
    right, left = pair(tmp_path, {"padding_side": "right"}, {"padding_side": "left"})
    assert [d.state for d in padding(right, left)] == ["note"]
    (found,) = padding(left, right)
    assert (
        found.state == "different"
        and "pads on the right - expected left, as in train - set padding_side='left'" in found.message
    )
    assert list(padding(left, left)) == []


def test_truncation_side_and_maximal_length(tmp_path):
    train, serve = pair(tmp_path, {}, {"truncation_side": "left", "model_max_length": 512})
    told = [d.message for d in truncation(train, serve)]
    assert told[0] == "serve - cuts on the left - expected right, as in train - set truncation_side='right'"
    assert told[1].startswith("serve - maximal length 512 tokens - expected 128 tokens")
    train, serve = pair(tmp_path / "2", {}, {"model_max_length": int(1e30)})
    assert "maximal length unlimited" in next(truncation(train, serve)).message


def test_what_a_file_cuts_and_pads_by_itself(tmp_path):
    def by_itself(own):
        own.backend_tokenizer.enable_truncation(16)
        own.backend_tokenizer.enable_padding(length=16)

    train, serve = (
        a_tokenizer(tmp_path / "a") / "tokenizer.json",
        a_tokenizer(tmp_path / "b", by_itself) / "tokenizer.json",
    )
    here, there = load(train), load(serve)
    untold, cut = truncation(here, there)
    assert (
        untold.state == "not measurable"
        and cut.state == "different"
        and "truncation on (direction Right, max_length 16" in cut.message
    )
    untold, filled = padding(here, there)
    assert untold.state == "not measurable" and filled.state == "note" and "no_padding()" in filled.message
    assert here.encode(["a " * 50], True) == there.encode(["a " * 50], True)
