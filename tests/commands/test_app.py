"""The command line: commands are files, errors are one line."""

from __future__ import annotations

import pytest

import debugtracer
from debugtracer.commands._names import names
from debugtracer.commands.app import status


def test_every_file_is_a_command_with_help(capsys):
    assert {"checks", "doctor", "replay", "report", "run"} <= set(names())
    for name in names():
        assert status([name, "--help"]) == 0
        assert "Usage: debug-tracer" in capsys.readouterr().out


def test_the_version_is_the_package_s(capsys):
    assert status(["--version"]) == 0
    assert capsys.readouterr().out == f"debug-tracer {debugtracer.__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["nope"],
        ["checks", "no-such-check"],
        ["report", "/no/such/run"],
        ["replay", "/no/such"],
        ["doctor", "/no/such"],
        ["run", "--mode", "x", "y.py"],
        ["--x"],
    ],
)
def test_wrong_words_are_status_2_and_one_line(words, capsys):
    assert status(words) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n"), shown.err.startswith("debug-tracer: ")) == ("", 1, True)


@pytest.mark.parametrize("command", ["report", "doctor", "replay"])
def test_a_file_in_place_of_a_run_is_one_line(command, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert status([command, str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_words_help_is_shown(capsys):
    assert status([]) == 0
    assert "debug-tracer run train.py" in capsys.readouterr().out
