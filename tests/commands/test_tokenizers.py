"""The command `debug-tracer tokenizers`."""

from __future__ import annotations

import json

from debugtracer.commands.app import status
from tests.tokenizer.building import a_tokenizer


def test_the_status_is_0_for_the_same_3_for_others_2_for_none(tmp_path, capsys):
    same, left, other = (
        a_tokenizer(tmp_path / "a"),
        a_tokenizer(tmp_path / "b", padding_side="left"),
        a_tokenizer(tmp_path / "c", model_max_length=9),
    )
    assert status(["tokenizers", str(same), str(same)]) == 0
    assert status(["tokenizers", str(same), str(left)]) == 0
    assert status(["tokenizers", str(same), str(other)]) == 3
    capsys.readouterr()
    assert status(["tokenizers", str(same), str(tmp_path / "none")]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "there is no such folder or file" in told.err


def test_own_texts_are_probed_too(tmp_path, capsys):
    same, probes = a_tokenizer(tmp_path / "a"), tmp_path / "own.txt"
    probes.write_text("my own text\nanother\n")
    counts = []
    for extra in ([], ["--probes", str(probes)]):
        assert status(["tokenizers", str(same), str(same), "--format", "json", *extra]) == 0
        counts.append(json.loads(capsys.readouterr().out)["probes"]["count"])
    assert counts[1] == counts[0] + 2


def test_an_unknown_format_is_a_usage_error(tmp_path, capsys):
    assert status(["tokenizers", str(tmp_path), str(tmp_path), "--format", "html"]) == 2
    assert "--format html: expected terminal or json" in capsys.readouterr().err
