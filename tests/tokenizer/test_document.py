"""What a person and a program read."""

from __future__ import annotations

import json

from debugtracer.tokenizer.document import as_json, terminal
from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.parity import ASPECTS, compare
from tests.tokenizer.building import a_tokenizer


def test_the_terminal_says_the_verdict_first_and_a_line_an_aspect(tmp_path):
    same = compare(load(a_tokenizer(tmp_path / "a")), load(a_tokenizer(tmp_path / "b")))
    lines = terminal(same).splitlines()
    assert lines[0].startswith("debug-tracer tokenizers: the same for ")
    assert [line.split("  ")[2] for line in lines[4:]] == list(ASPECTS)
    other = compare(load(tmp_path / "a"), load(a_tokenizer(tmp_path / "c", model_max_length=64)))
    text = terminal(other, width=60)
    assert text.startswith("debug-tracer tokenizers: tokenizer_mismatch: 1 of 9 aspects differ\n")
    assert "  DIFF  truncation\n        serve - maximal length 64 tokens" in text
    assert max(map(len, text.splitlines()[4:-1])) <= 60


def test_the_json_document_has_its_schema_class_and_examples(tmp_path):
    train, serve = (
        load(a_tokenizer(tmp_path / "a")),
        load(a_tokenizer(tmp_path / "b", lambda own: own.add_tokens(["def"]))),
    )
    told = json.loads(as_json(compare(train, serve)))
    assert (
        told["schema"] == "debug-tracer.tokenizers/1"
        and told["class"] == "tokenizer_mismatch"
        and told["layer"] == "data"
    )
    assert (
        told["equal"] is False
        and told["aspects"]["added tokens"] == "different"
        and told["aspects"]["padding"] == "same"
    )
    assert told["probes"]["different"] >= len(told["probes"]["examples"]) > 0
    assert {"text", "position", "train", "serve"} == set(told["probes"]["examples"][0])
    assert json.loads(as_json(compare(train, train)))["class"] is None
