"""Ids of probe texts."""

from __future__ import annotations

from debugtracer.tokenizer.encoding import ids, parting, probe
from debugtracer.tokenizer.loaded import load
from tests.tokenizer.building import a_tokenizer, edited, words_json


def test_the_first_place_where_ids_part():
    assert parting([1, 2, 3], [1, 5, 3]) == (1, [2, 3], [5, 3])
    assert parting([1], [1, 2]) == (1, [], [2])


def test_equal_tables_with_another_normaliser_give_other_ids(tmp_path):
    files = []
    for name, drop in (("a.json", False), ("b.json", True)):
        file = tmp_path / name
        file.write_text(words_json(), encoding="utf-8")
        files.append(edited(tmp_path, lambda whole: whole.update(normalizer=None), name) / name if drop else file)
    train, serve = map(load, files)
    assert train.vocab == serve.vocab
    probed = probe(train, serve, ["the value", "The value", ""])
    assert [p.text for p in probed.parted] == ["The value"]
    (found,) = ids(train, serve, probed)
    assert "1 of 3 probe texts get other ids; 'The value' has 0 '[UNK]'" in found.message
    assert f"expected {train.vocab['the']} 'the'" in found.message


def test_a_difference_of_the_special_tokens_around_a_text_is_told_as_such(tmp_path):
    from tokenizers.processors import TemplateProcessing

    def ends(own):
        own.backend_tokenizer.post_processor = TemplateProcessing(
            single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 0)]
        )

    train, serve = load(a_tokenizer(tmp_path / "a", ends)), load(a_tokenizer(tmp_path / "b"))
    probed = probe(train, serve, ["one", "two words"])
    assert (len(probed.parted), probed.bare) == (2, 0)
    (found,) = ids(train, serve, probed)
    assert "without special tokens all agree" in found.message and "'one' has nothing" in found.message


def test_a_decoder_that_writes_other_text_is_a_difference(tmp_path):
    train = load(a_tokenizer(tmp_path / "a"))
    serve = load(edited(a_tokenizer(tmp_path / "b"), lambda whole: whole.update(decoder=None)))
    probed = probe(train, serve, ["two words"])
    assert (probed.parted, probed.decoded) == ([], 1)
    assert "decode to another text" in next(ids(train, serve, probed)).message
