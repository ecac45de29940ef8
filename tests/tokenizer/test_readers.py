"""Fast against slow, and both against tokenizer.json, of one folder."""

from __future__ import annotations

from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.readers import others, readers
from debugtracer.tokenizer.texts import BUILT_IN
from tests.tokenizer.building import a_bert, a_tokenizer, edited


def test_the_readers_of_a_bert_agree(tmp_path):
    side = load(a_bert(tmp_path / "a"))
    rest = others(side)
    assert [other.kind.split()[-1] for other in rest] == ["(fast)", "(slow)"]
    assert list(readers(side, "train", rest, list(BUILT_IN))) == []


def test_a_slow_tokenizer_with_another_vocabulary_is_noted_with_its_first_text(tmp_path):
    folder = a_bert(tmp_path / "a")
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    before = load(folder)
    a, b = words.index("the"), words.index("of")
    words[a], words[b] = words[b], words[a]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    side = load(folder)
    assert side.vocab == before.vocab  # the fast one reads tokenizer.json
    (found,) = readers(side, "serve", others(side), ["of", "a"])
    assert found.state == "note" and "(slow) parts from " in found.message and "on 1 of 2 probe texts" in found.message


def test_a_loader_that_does_not_do_what_tokenizer_json_says(tmp_path):
    folder = edited(
        a_bert(tmp_path / "a"), lambda whole: whole["normalizer"].update(lowercase=False, strip_accents=False)
    )
    side = load(folder)
    told = [found.message for found in readers(side, "train", others(side), ["The", "a"])]
    # transformers 4 obeys the file, 5 builds its own
    agree = side.encode(["The"], True) == load(folder / "tokenizer.json").encode(["The"], True)
    assert [
        ("tokenizer.json (fast) parts from" in text and "on 1 of 2" in text)
        for text in told
        if "tokenizer.json" in text
    ] == ([] if agree else [True])


def test_a_fast_tokenizer_alone_has_only_its_file_and_a_file_has_no_other_reader(tmp_path):
    folder = a_tokenizer(tmp_path / "a")
    assert [other.kind for other in others(load(folder))] == ["tokenizer.json (fast)"]
    assert others(load(folder / "tokenizer.json")) == []
