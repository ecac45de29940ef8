"""A page that is open on a run which would obey it: said in the folder of the run, which then waits for a word before
it stops."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

from debugtracer.server.word import refusal
from debugtracer.trace.store.schema import ATTENDED

EVERY_S = 10.0  # between two times (the run forgets it after 30)


class Presence:
    """One per open page."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.due_s = 0.0

    def say(self, state: dict[str, Any]) -> None:
        """Leave the present time in the folder; a folder that cannot be written is no fault of the page's."""
        if time.monotonic() < self.due_s or refusal(state):
            return
        self.due_s = time.monotonic() + EVERY_S
        with contextlib.suppress(OSError):
            handle = os.open(self.run / ATTENDED, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
            os.close(handle)
            os.utime(self.run / ATTENDED)
