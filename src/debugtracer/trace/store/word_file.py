"""The file in which a person leaves a word to a run. Anybody who may write the run folder can put anything in its
place: it is never waited for, and no more of it is read than a word needs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 256  # of the file: the longest word has six (ours)


def take_word(path: Path) -> str:
    """Read the word and take the file away. Raises OSError."""
    found = read_word(path)
    if found:  # an empty one is being written: taken away now, its word would be lost
        path.unlink()
    return found


def read_word(path: Path) -> str:
    """The word; empty where there is none yet, or no file that could hold one. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer would be waited for
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return os.read(handle, MOST_BYTES).decode(errors="replace").strip().lower()
    finally:
        os.close(handle)
