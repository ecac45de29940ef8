"""Which files the program is made of, as far as this process has imported them."""

from __future__ import annotations

import linecache
import re
import sys

from debugtracer.callsites.construction import is_user_file

MOST = 64  # files of a program that is read as a whole (ours)


def imported_files() -> list[str]:
    """The files of the user's modules, in the order in which they were imported, each once: a script may be two
    modules."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return list(dict.fromkeys(file for file in files if isinstance(file, str) and is_user_file(file)))


def program_files() -> list[str] | None:
    """The same; None where there is no script to read (a notebook), or where there are too many."""
    if not getattr(sys.modules.get("__main__"), "__file__", None):
        return None
    files = imported_files()
    return files if len(files) <= MOST else None


def with_words(files: list[str], words: re.Pattern[str], times: int = 1) -> list[str]:
    """The files in whose text one of these words stands so often: what is to be read as a tree, which takes a hundred
    times as long."""
    return [file for file in files if stands_in("".join(linecache.getlines(file)), words, times)]


def stands_in(text: str, words: re.Pattern[str], times: int) -> bool:
    """Whether a text has that many places with one of the words."""
    return sum(1 for _ in zip(words.finditer(text), range(times), strict=False)) == times
