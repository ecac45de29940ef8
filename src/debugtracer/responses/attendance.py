"""Whether anybody would come: how long a run that cannot go on by itself waits for a person before it stops."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from debugtracer.trace.store.schema import ATTENDED

COMES_S = 600.0  # seconds that somebody who sees it, or is told, has to come (ours: a walk to the desk)
SEEN_S = 30.0  # seconds since a page has last said that it is open (it says so every ten)


class Attendance:
    """One per process."""

    def __init__(self, asked_s: float | None, told: bool, run: Callable[[], Path | None]) -> None:
        """Take what the user has set (None: nothing), whether messages go out or somebody may send a word, and what
        gives the folder of the run."""
        self.asked_s, self.told, self.run = asked_s, told, run

    def wait_s(self) -> float:
        """Return the seconds to wait: as set; else some minutes where somebody sits at its terminal, has its page open
        or is told; 0 where nobody would know."""
        if self.asked_s is not None:
            return self.asked_s
        return COMES_S if self.told or at_terminal() or self.page_is_open() else 0.0

    def unattended(self) -> str:
        """Return why nobody is waited for, one clause."""
        if self.asked_s is not None:
            return f"nobody is waited for: DEBUG_TRACER_PAUSE_S is {self.asked_s:g}"
        return "nobody is waited for: no terminal, no open page, nobody who is told"

    def page_is_open(self) -> bool:
        """Whether a page that shows this run has said so of late."""
        run = self.run()
        try:
            return run is not None and abs(time.time() - (run / ATTENDED).stat().st_mtime) < SEEN_S
        except OSError:
            return False


def at_terminal() -> bool:
    """Whether somebody could type an answer: a program in the background that reads its terminal is halted."""
    try:
        return sys.stdin is not None and sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False  # closed by the program, or no terminals here
