"""The whole comparison."""

from __future__ import annotations

from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.parity import ASPECTS, compare
from tests.tokenizer.building import a_bert, a_tokenizer, words_json


def test_a_copy_is_equal_in_every_aspect(tmp_path):
    found = compare(load(a_tokenizer(tmp_path / "a")), load(a_tokenizer(tmp_path / "b")))
    assert found.equal and found.differences == [] and found.probed.count > 150
    assert {found.state(aspect) for aspect in ASPECTS} == {"same"}


def test_left_padding_alone_keeps_them_equal(tmp_path):
    found = compare(load(a_tokenizer(tmp_path / "a")), load(a_tokenizer(tmp_path / "b", padding_side="left")))
    assert found.equal and found.state("padding") == "note"


def test_another_family_differs_in_almost_everything(tmp_path):
    found = compare(load(a_tokenizer(tmp_path / "a")), load(a_bert(tmp_path / "b")))
    assert not found.equal
    assert [a for a in ASPECTS if found.state(a) == "different"] == [
        a for a in ASPECTS if a not in ("padding", "readers")
    ]


def test_a_difference_that_only_the_users_own_text_shows(tmp_path):
    def also(own):
        own.add_tokens(["ACME-9000"])

    train, serve = load(a_tokenizer(tmp_path / "a", also)), load(a_tokenizer(tmp_path / "b", also))
    assert compare(train, serve, ["the ACME-9000 case"]).equal
    plain = load(a_tokenizer(tmp_path / "c"))
    assert "the ACME-9000 case" in [p.text for p in compare(train, plain, ["the ACME-9000 case"]).probed.parted]


def test_files_without_a_second_reader_say_so(tmp_path):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(words_json(), encoding="utf-8")
    found = compare(load(tmp_path / "a.json"), load(tmp_path / "b.json"))
    assert found.equal and found.state("readers") == "not measurable" and found.readers == []
