"""Loading: from a folder and a file, never from the network, never with code of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.tokenizer.loaded import REFUSED, load, templates_of
from tests.tokenizer.building import CHAT, a_tokenizer, words_json


def test_a_folder_tells_everything(tmp_path):
    side = load(a_tokenizer(tmp_path / "t"))
    assert (side.padding_side, side.truncation_side, side.max_length) == ("right", "right", 128)
    assert side.roles is not None and side.roles["pad_token"] == "<pad>" and side.roles["bos_token"] is None
    assert side.added["<pad>"] == (
        1,
        {"special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False},
    )
    assert side.templates == {"default": CHAT}
    assert (
        side.pipeline is not None
        and side.pipeline["pre_tokenizer"]["type"] == "ByteLevel"
        and "vocab" not in side.pipeline["model"]
    )
    ids = side.encode(["None is a value"], True)[0]
    assert side.decode(ids) == "None is a value"


def test_a_file_encodes_as_its_folder_does_and_tells_no_roles(tmp_path):
    folder = a_tokenizer(tmp_path / "t")
    file, whole = load(folder / "tokenizer.json"), load(folder)
    assert file.encode(["def f(x): ...", ""], True) == whole.encode(["def f(x): ...", ""], True)
    assert file.vocab == whole.vocab
    assert file.roles is None and file.padding_side is None and file.templates is None


def test_no_maximal_length_is_zero(tmp_path):
    assert load(a_tokenizer(tmp_path / "t", model_max_length=int(1e30))).max_length == 0


def test_a_text_that_the_tokenizer_refuses_has_a_single_impossible_id(tmp_path):
    file = tmp_path / "tokenizer.json"
    file.write_text(words_json(unknown=None), encoding="utf-8")
    assert load(file).encode(["zyxgarblewv", ""], True) == [[REFUSED], []]


def test_templates_of_both_kinds():
    assert (
        templates_of(None) == {}
        and templates_of("x") == {"default": "x"}
        and templates_of({"rag": "y"}) == {"rag": "y"}
    )


def test_code_in_the_folder_is_never_executed(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "Mine", "auto_map": {"AutoTokenizer": ["mine.Mine", None]}})
    )
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Mine: pass\n")
    with pytest.raises(UsageError, match="code of its own, which is not executed here"):
        load(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"version": "1.0"}'])
def test_a_file_that_is_no_tokenizer_is_one_sentence(text, tmp_path):
    file = tmp_path / "tokenizer.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="no tokenizer can be loaded") as told:
        load(file)
    assert "\n" not in str(told.value)


def test_a_path_that_is_not_there_is_not_asked_of_the_network(tmp_path):
    with pytest.raises(UsageError, match="there is no such folder or file"):
        load(Path("gpt2"))


def test_without_transformers_one_sentence_and_status_2(tmp_path):
    folder = a_tokenizer(tmp_path / "t")
    program = (
        "import sys; sys.modules['transformers'] = None; from debugtracer.commands.app import status; "
        "sys.exit(status(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "tokenizers", str(folder), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        done.stderr.startswith("debug-tracer: transformers is needed to read tokenizers")
        and done.stderr.count("\n") == 1
    )
