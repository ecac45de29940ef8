"""The command `debug-tracer explain`."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from debugtracer.commands.app import status
from tests.views.test_incident_document import a_run

LOG = (
    'step 0 loss 0.7\nTraceback (most recent call last):\n  File "train.py", '
    "line 8, in <module>\n    f(x)\nIndexError: Target 3 is out of bounds.\n"
)


def test_a_log_is_explained_without_a_run_and_without_torch(tmp_path):
    (tmp_path / "run.log").write_text(LOG)
    code = (
        "import sys; sys.modules['torch'] = None\nfrom debugtracer.commands.app import "
        "status\nsys.exit(status(['explain', 'run.log']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("debug-tracer: label out of range (likely) in run.log\n")
    assert "  debug-tracer run python train.py ...\n" in done.stdout


def test_stdin_and_json(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    assert status(["explain", "-", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["log"]["source"], told["verdict"]["class"], told["verdict"]["line"]) == (
        "stdin",
        "label_out_of_range",
        8,
    )


def test_nothing_wrong_and_nothing_at_all_are_status_0(tmp_path, capsys):
    (tmp_path / "empty.log").write_text("")
    (tmp_path / "fine.log").write_text("step 0 loss 0.7\nstep 1 loss 0.6\n")
    assert status(["explain", str(tmp_path / "empty.log")]) == 0
    assert status(["explain", str(tmp_path / "fine.log")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "is empty; expected the text log of a training run" in told
    assert "nothing in" in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["none.log"], "none.log: there is no such file"),
        ([], "explain: no log was given"),
        (["x.log", "--format", "html"], "--format html: expected terminal or json"),
        (["x.log", "--with-batch"], "--with-batch and -o go with --prompt"),
        (["--remember", "x"], "--remember needs --fix TEXT"),
        (["none", "--prompt"], "none: there is no such folder"),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(tmp_path, monkeypatch, capsys, words, says):
    monkeypatch.chdir(tmp_path)
    assert status(["explain", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err
    assert told.err.count("\n") == 1


def test_a_binary_file_is_status_2(tmp_path, capsys):
    (tmp_path / "last.pt").write_bytes(bytes(range(256)) * 20)
    assert status(["explain", str(tmp_path / "last.pt")]) == 2
    assert "last.pt is a binary file" in capsys.readouterr().err


def test_a_cure_is_remembered_and_a_second_run_hears_of_it(tmp_path, capsys):
    run = a_run(tmp_path)
    other = run.rename(run.with_name("run-2"))
    run = a_run(tmp_path)
    assert status(["explain", "--remember", str(run), "--fix", "one key stays  unmasked"]) == 0
    assert "(masked_softmax_all_masked, softmax, " in capsys.readouterr().out
    assert status(["explain", "--remember", str(other / "incidents" / "step-000048-rank0"), "--fix", "the same"]) == 0
    assert f"it was seen in run {run.name} on 2023-11-14, cured by: one key stays unmasked" in capsys.readouterr().out
    assert len((tmp_path / "debug-tracer-library.jsonl").read_text().splitlines()) == 2


def test_the_team_may_keep_its_library_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_LIBRARY", str(tmp_path / "team" / "cures.jsonl"))
    assert status(["explain", "--remember", str(a_run(tmp_path)), "--fix", "x"]) == 0
    assert (tmp_path / "team" / "cures.jsonl").exists()


def test_a_prompt_goes_to_stdout_or_to_a_file(tmp_path, capsys):
    run = a_run(tmp_path)
    assert status(["explain", str(run), "--prompt"]) == 0
    prompt = capsys.readouterr().out
    assert status(["explain", str(run), "--prompt", "-o", str(tmp_path / "prompt.md")]) == 0
    assert (tmp_path / "prompt.md").read_text() == prompt
    assert "read it before you send it anywhere" in capsys.readouterr().err
