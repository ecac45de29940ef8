"""A pipe has no colours and no width of its own; a terminal has both, unless NO_COLOR is set."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

ASK = "from debugtracer.commands._terminal import colored, columns; print(colored(), columns(), columns(100))"


def answer(on_terminal: bool, **environment: str) -> str:
    environ = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")} | environment
    if not on_terminal:
        return subprocess.run(
            [sys.executable, "-c", ASK], env=environ, capture_output=True, text=True, check=True
        ).stdout.strip()
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", ASK], env=environ, stdout=theirs, stdin=theirs) as child:
        os.close(theirs)
        said = ""
        while "\n" not in said:  # a terminal hands over what has been printed so far
            said += os.read(ours, 1000).decode()
        assert child.wait() == 0
    os.close(ours)
    return said.strip()


def test_a_pipe_is_plain_and_as_wide_as_asked():
    assert answer(False) == "False 80 100"


def test_a_terminal_has_colours_and_its_own_width():
    assert answer(True, COLUMNS="132") == "True 132 132"


def test_nobody_is_coloured_against_their_will():
    assert answer(True, COLUMNS="132", NO_COLOR="1") == "False 132 132"
