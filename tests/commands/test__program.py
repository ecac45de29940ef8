"""What COMMAND means."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from debugtracer.commands._program import has_debugtracer, interpreter, resolve
from debugtracer.errors import UsageError


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")


def test_a_script_and_a_module_run_by_our_interpreter():
    assert resolve(["train.py", "--lr", "1"]) == [sys.executable, "train.py", "--lr", "1"]
    assert resolve(["-m", "train", "x"]) == [sys.executable, "-m", "train", "x"]
    assert resolve(["--", "train.py"]) == [sys.executable, "train.py"]


def test_anything_else_runs_as_it_is():
    assert resolve(["bash", "-c", "true"]) == ["bash", "-c", "true"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "there is no COMMAND"),
        (["nope.py"], "nope.py does not exist"),
        (["-m"], "-m needs the name of a module"),
        (["-m", "no_such_module.x"], "knows no module no_such_module"),
        (["--modus=dev", "train.py"], "there is no option --modus;"),
        (["no-such-command-here"], "there is no command no-such-command-here"),
    ],
)
def test_what_cannot_work_is_one_sentence(words, says):
    with pytest.raises(UsageError, match=says) as error:
        resolve(words)
    assert "\n" not in str(error.value)


def script(path: Path, first: str) -> Path:
    path.write_text(first + "\n")
    path.chmod(0o755)
    return path


def test_the_first_line_of_a_command_names_its_python(tmp_path):
    assert interpreter(script(tmp_path / "a", f"#!{sys.executable} -u")) == sys.executable
    assert interpreter(script(tmp_path / "b", "#!/usr/bin/env -S A=1 sh")) is None
    assert interpreter(script(tmp_path / "c", "#!/bin/bash")) is None
    assert interpreter(tmp_path / "missing") is None


def test_a_python_without_debugtracer_is_refused_before_it_runs(tmp_path):
    other = script(tmp_path / "python3", "#!/bin/sh\nexit 1")
    with pytest.raises(
        UsageError, match=r"cannot import debugtracer; install it there: .* -m pip install -e PATH_TO_ITS_CHECKOUT"
    ):
        resolve([str(other), "train.py"])
    assert not has_debugtracer(os.fspath(tmp_path / "missing"))
