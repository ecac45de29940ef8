"""Which data file a program was at when a line of it could not take a record: the files under the names of the function
that raised, and the line of the text file that was being gone through."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from debugtracer.callsites.data_lines import LONGEST, is_file, read_lines
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.raising_frames import raising_frames
from debugtracer.trace.birth import Frame

MOST = 2  # files that are named: what was read, and what goes with it (ours)
PROGRAM = frozenset({".py", ".pyc", ".ipynb", ".so"})


def files_in_hand(error: BaseException) -> tuple[str, ...]:
    """The files that the innermost function of the program holds under names of its own, as it writes them; of the
    innermost one that holds any."""
    for frame, _ in raising_frames(error)[::-1]:
        if frame.f_code.co_name == "<module>":
            break  # what the whole program holds is no record
        paths = [str(held) for held in locals_of(frame).values() if isinstance(held, (str, Path))]
        found = dict.fromkeys(path for path in reversed(paths) if is_data_file(path))  # what was named last comes first
        if found:
            return tuple(found)[:MOST]
    return ()


def line_in_hand(error: BaseException, text: object) -> Frame | None:
    """The only line with this text in the only text file that the functions of the program go through."""
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        return None
    files = dict.fromkeys(file for frame, _ in raising_frames(error) for file in open_files(frame))
    if len(files) != 1:
        return None
    (file,) = files
    lines = read_lines(Path(file))
    at = [number for number, line in enumerate(lines, 1) if line.strip() == text.strip()]
    return Frame(str(Path(file).resolve()), at[0], "", lines[at[0] - 1].strip()) if len(at) == 1 else None


def is_data_file(path: str) -> bool:
    """Whether a text leads to a file that is no program."""
    short = 0 < len(path) < 1024 and "\n" not in path
    return short and os.path.splitext(path)[1].lower() not in PROGRAM and is_file(Path(path))


def open_files(frame: FrameType) -> Iterator[str]:
    """Yield the paths of the text files read under the names of a frame, also of what a comprehension goes through."""
    held: dict[str, Any] = locals_of(frame)
    for value in held.values():
        if isinstance(value, io.TextIOWrapper) and "r" in getattr(value, "mode", ""):  # closed by a `with`, perhaps
            name = getattr(value, "name", None)
            if isinstance(name, (str, Path)) and is_data_file(str(name)):
                yield str(name)
