"""The line of a text file that a record was read from: in the files that the program names, the one line on which the
record's own name stands."""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, place_of
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.program_files import program_files
from debugtracer.trace.birth import Frame

ENDINGS = frozenset(
    {".txt", ".csv", ".tsv", ".lst", ".list", ".jsonl", ".json", ".dat", ".data", ".scp", ".ann", ".tab"}
)
SETTINGS = frozenset({".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".gin"})
SMALL_BYTES = 1 << 16  # a larger file is no settings file (ours)
MOST = 16  # files that are read (ours)
BIG_BYTES = 1 << 26  # a larger file is not searched (ours)
LONGEST = 160  # characters of a line that are shown
SPLITS = re.compile(r"[\s,;|\"':\[\]{}()]+")


def record_line(files: Sequence[Path], names: Sequence[str], rows: int | None) -> Frame | None:
    """The only line of these files on which one of the names stands as a word or as the end of a path; of several files
    that hold it once, the one with as many lines as there are records. None where it is not known."""
    lines = {file: read_lines(file) for file in files}
    for name in names:
        found = [(file, held) for file, text in lines.items() if (held := holding(text, name))]
        once = [(file, held[0]) for file, held in found if len(held) == 1]
        if len(once) > 1 and rows is not None:
            once = [(file, at) for file, at in once if 0 <= count(lines[file]) - rows <= 1]
        if (len(once) == 1 and len(found) == 1) or (len(once) == 1 and rows is not None):
            file, at = once[0]
            return Frame(str(file), at + 1, "", lines[file][at].strip()[:LONGEST])
    return None


def holding(lines: Sequence[str], name: str) -> list[int]:
    """The lines on which a name stands; no more than two."""
    found: list[int] = []
    for at, line in enumerate(lines):
        if name in line and any(word == name or word.endswith("/" + name) for word in SPLITS.split(line)):
            found.append(at)
            if len(found) == 2:
                break
    return found


def count(lines: Sequence[str]) -> int:
    """How many lines hold something."""
    return sum(1 for line in lines if line.strip())


def read_lines(file: Path) -> list[str]:
    """The lines of a file; none where it cannot be read as text."""
    try:
        if file.stat().st_size > BIG_BYTES:
            return []
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def named_files(error: BaseException | None, dataset: Any = None, endings: Collection[str] = ENDINGS) -> list[Path]:
    """The text files that exist under a name which the program holds or writes out: its arguments, the strings of its
    source, of the functions in the traceback and of its dataset, and the words of its settings files."""
    words = dict.fromkeys(word for word in strings(error, dataset) if 0 < len(word) < 1024 and "\n" not in word)
    places = [Path.cwd(), *(Path(file).parent for file in program_files() or ())]
    places = list(dict.fromkeys([*places, *(Path(word) for word in words if is_folder(word))]))
    for file in existing(words, places, SETTINGS):
        small = file.stat().st_size <= SMALL_BYTES
        words |= dict.fromkeys(one for line in read_lines(file) if small for one in SPLITS.split(line))
    return existing(words, places, endings)


def existing(words: Iterable[str], places: Sequence[Path], endings: Collection[str]) -> list[Path]:
    """The files of these endings that one of the words leads to from one of the places."""
    found: dict[Path, None] = {}
    for word in words:
        if os.path.splitext(word)[1].lower() not in endings:
            continue
        for place in places:
            file = place / word
            if len(found) < MOST and is_file(file):
                found[file.resolve()] = None
    return list(found)


def strings(error: BaseException | None, dataset: Any) -> Iterator[str]:
    """Yield the strings that may name a file."""
    for argument in sys.argv[1:]:
        yield from (argument, argument.partition("=")[2])
    for owner in (dataset, getattr(dataset, "dataset", None)):
        yield from texts(getattr(owner, "__dict__", {}))
    for frame, _ in traceback.walk_tb(error.__traceback__ if error is not None else None):
        if place_of(frame.f_code) == USER:
            for held in (locals_of(frame), frame.f_globals):
                yield from texts(held)
    for program in programs_of(program_files()):
        for node in program.every(ast.Constant):
            if isinstance(node.value, str):
                yield node.value


def texts(held: dict[str, Any]) -> Iterator[str]:
    """Yield the strings and paths of a dict of names, and those of parsed arguments."""
    for value in list(held.values()):
        if isinstance(value, (str, Path)):
            yield str(value)
        elif isinstance(value, argparse.Namespace):
            yield from (str(one) for one in vars(value).values() if isinstance(one, (str, Path)))


def is_folder(word: str) -> bool:
    """Whether a string names a folder."""
    try:
        return ("/" in word or "." not in word) and Path(word).is_dir()
    except (OSError, ValueError):
        return False


def is_file(file: Path) -> bool:
    """Whether a path leads to something that can be opened and read."""
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False
