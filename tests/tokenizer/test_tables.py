"""Differences of the tables, each made in a real tokenizer."""

from __future__ import annotations

from tokenizers import AddedToken

from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.tables import added, special, vocabulary
from tests.tokenizer.building import a_tokenizer, bpe_json, edited


def test_equal_tables_say_nothing(tmp_path):
    one, two = load(a_tokenizer(tmp_path / "a")), load(a_tokenizer(tmp_path / "b"))
    assert [*vocabulary(one, two), *added(one, two), *special(one, two)] == []


def test_a_smaller_vocabulary_misses_tokens_and_the_reverse_brings_ids_beyond_the_table(tmp_path):
    big, small = load(a_tokenizer(tmp_path / "a")), load(a_tokenizer(tmp_path / "b", text=bpe_json(400)))
    assert [d.message.split(" - ")[1][:20] for d in vocabulary(big, small)] == ["200 token(s) missing"]
    (more,) = vocabulary(small, big)
    assert (
        "200 token(s) that train never saw" in more.message
        and "200 of them with ids beyond the trained table" in more.message
    )


def test_two_tokens_that_changed_places(tmp_path):
    def swap(whole):
        known = whole["model"]["vocab"]
        known["a"], known["b"] = known["b"], known["a"]

    train, serve = load(a_tokenizer(tmp_path / "a")), load(edited(a_tokenizer(tmp_path / "b"), swap))
    (found,) = vocabulary(train, serve)
    assert (
        f"2 token(s) under another id (first 'a': {serve.vocab['a']}) - expected the ids of train ('a': "
        f"{train.vocab['a']})"
    ) in found.message


def test_an_added_token_that_serving_lacks_and_one_matched_otherwise(tmp_path):
    train = load(
        a_tokenizer(
            tmp_path / "a", lambda own: own.add_tokens([AddedToken("<city>"), AddedToken("<name>", lstrip=True)])
        )
    )
    serve = load(a_tokenizer(tmp_path / "b", lambda own: own.add_tokens([AddedToken("<name>")])))
    told = [d.message for d in added(train, serve)]
    assert told[0].startswith(
        "serve - '<city>' not an added token, so that text is cut like any other - expected matched whole"
    )
    assert told[1].startswith("serve - '<name>' has lstrip=False - expected lstrip=True, as in train")


def test_another_pad_token_and_a_token_special_on_one_side(tmp_path):
    train = load(a_tokenizer(tmp_path / "a"))
    serve = load(a_tokenizer(tmp_path / "b", pad_token="<|endoftext|>"))
    (found,) = special(train, serve)
    assert "pad_token is '<|endoftext|>' (id 0) - expected '<pad>' (id 1), as in train" in found.message
    serve = load(
        a_tokenizer(tmp_path / "c", lambda own: own.add_special_tokens({"additional_special_tokens": ["<tool>"]}))
    )
    (found,) = special(train, serve)
    assert "'<tool>' special on one side only" in found.message


def test_a_file_tells_no_roles(tmp_path):
    folder = a_tokenizer(tmp_path / "a")
    (found,) = special(load(folder), load(folder / "tokenizer.json"))
    assert found.state == "not measurable"
