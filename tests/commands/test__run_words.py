"""Plain words of `run` are read as typer reads them; all others are left to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.commands import run as module
from debugtracer.commands._group import command
from debugtracer.commands._run_words import READERS, SEVERAL, field_of, parsed

PLAIN = [
    ["train.py"],
    ["train.py", "--lr", "3", "--out", "x"],
    ["-m", "package.train", "--mode", "dev"],
    ["--mode", "observe", "-m", "package.train"],
    ["--out=runs", "--cost", "0.5", "--inspect-steps", "0", "--trials=3", "--metrics-port", "80", "torchrun", "-x"],
    ["--respond", "a=b", "--respond=c=d", "--apprise", "x://y", "--skip-list", "s.jsonl", "--name", "n", "t.py", "--"],
    ["--preset", "seed", "--fail-on", "note", "--capture", "canary", "--function-tests", "off", "t.py"],
    ["--webhook", "http://x/?a=b", "--otlp", "http://y", "t.py"],
    ["--", "t.py"],
    ["--mode", "observe", "--out", "runs", "--", "python", "t.py", "--lr", "3", "--", "x"],
    ["--name", "n", "--", "-m", "package.train"],
]
DEAR = {"typer", "pydantic", "rich", "pyarrow", "torch", "numpy", "urllib.request", "ssl"}
LEFT = [
    [],
    ["report", "x"],
    ["run"],
    ["run", "--help"],
    ["run", "--mode"],
    ["run", "--mode", "dev"],
    ["run", "--nope", "t.py"],
    ["run", "--cost", "-1", "t.py"],
    ["run", "--cost", "nan", "t.py"],
    ["run", "--trials", "x", "t.py"],
    ["run", "--name", "-x", "t.py"],
    ["run", "--name=", "t.py"],
    ["run", "-x", "t.py"],
    ["run", "--"],
    ["run", "--", "-x"],
    ["run", "--=x", "t.py"],
]


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_plain_words_are_read_as_typer_reads_them(words, monkeypatch):
    told = []
    monkeypatch.setattr(module, "watch_given", lambda command, given: told.append((command, given)) or 0)
    command("run").main(words, standalone_mode=False)
    found = parsed(["run", *words])
    assert found is not None
    assert [(found.command, found.options)] == told


@pytest.mark.parametrize("words", LEFT, ids=" ".join)
def test_all_others_are_left_to_it(words):
    assert parsed(words) is None


def test_every_option_is_known():
    told = {name: param for param in command("run").params for name in param.opts if name.startswith("--")}
    assert told.keys() - {"--help"} == READERS.keys()
    assert {name for name, param in told.items() if param.multiple} == SEVERAL
    assert {name: param.name for name, param in told.items() if name in READERS} == {n: field_of(n) for n in READERS}


def test_the_supervisor_of_a_plain_run_imports_neither_typer_nor_what_sends_notices(tmp_path: Path):
    (tmp_path / "train.py").write_text("pass")
    code = (
        "import sys; from debugtracer.commands.app import status; "
        f"assert status(['run', '--out', {str(tmp_path / 'runs')!r}, {str(tmp_path / 'train.py')!r}]) == 0; "
        f"print(sorted({DEAR} & {{*sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"
