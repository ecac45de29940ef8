"""A run waits where somebody sees it or is told, and stops at once where nobody would know."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.responses import attendance
from debugtracer.responses.attendance import COMES_S, SEEN_S, Attendance
from debugtracer.trace.store.schema import ATTENDED


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may be typed at a terminal."""
    monkeypatch.setattr(attendance, "at_terminal", lambda: False)


def test_it_waits_as_it_was_set(tmp_path: Path) -> None:
    assert Attendance(7.0, told=False, run=lambda: tmp_path).wait_s() == 7.0
    assert Attendance(0.0, told=True, run=lambda: tmp_path).wait_s() == 0.0


def test_nobody_is_waited_for_where_nobody_would_know(tmp_path: Path) -> None:
    assert Attendance(None, told=False, run=lambda: tmp_path).wait_s() == 0.0
    assert Attendance(None, told=False, run=lambda: None).wait_s() == 0.0


def test_somebody_who_is_told_may_come(tmp_path: Path) -> None:
    assert Attendance(None, told=True, run=lambda: tmp_path).wait_s() == COMES_S


def test_a_page_that_is_open_counts_and_one_that_was_closed_does_not(tmp_path: Path) -> None:
    waits = Attendance(None, told=False, run=lambda: tmp_path)
    (tmp_path / ATTENDED).touch()
    assert waits.wait_s() == COMES_S
    before = os.stat(tmp_path / ATTENDED).st_mtime - SEEN_S - 1
    os.utime(tmp_path / ATTENDED, (before, before))
    assert waits.wait_s() == 0.0


def test_a_terminal_counts_for_a_program_in_its_foreground(tmp_path: Path) -> None:
    asks = "from debugtracer.responses.attendance import at_terminal; print(at_terminal(), flush=True)"
    ours, theirs = pty.openpty()
    alone = [sys.executable, "-c", f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {asks}"]
    seen = subprocess.run(
        alone, stdin=theirs, stdout=subprocess.PIPE, text=True, check=True, start_new_session=True
    ).stdout
    other = subprocess.run(
        [sys.executable, "-c", asks], stdin=theirs, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    os.close(ours)
    os.close(theirs)
    assert (seen.strip(), other.strip()) == ("True", "False")


def test_why_nobody_is_waited_for_is_told_as_it_is(tmp_path: Path) -> None:
    assert Attendance(0.0, told=True, run=lambda: tmp_path).unattended().endswith("DEBUG_TRACER_PAUSE_S is 0")
    assert "no terminal" in Attendance(None, told=False, run=lambda: tmp_path).unattended()
