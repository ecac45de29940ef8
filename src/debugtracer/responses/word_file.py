"""The file in which a person leaves a word to a run. Anybody who may write the run folder can put anything in its
place: it is never waited for, and no more of it is read than a word needs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 256  # of the file: the longest word has six (ours)


def take_word(path: Path) -> str:
    """Read the word and take the file away; empty where there is none yet, or no file that could hold one. Raises
    OSError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer would be waited for
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        found = os.read(handle, MOST_BYTES).decode(errors="replace").strip().lower()
    finally:
        os.close(handle)
    if found:  # an empty one is being written: taken away now, its word would be lost
        path.unlink()
    return found
