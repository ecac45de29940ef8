"""The line of a data file on which a number stands that a tensor holds, as single precision keeps it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import torch

from debugtracer.callsites.data_lines import ENDINGS, LONGEST, SPLITS, is_folder, named_files, read_lines, strings
from debugtracer.callsites.stored_place import MOST_BYTES
from debugtracer.trace.birth import Frame

ENTRIES = 64  # of a folder that are listed (ours)
DIGITS = 4  # with which a number begins that is compared; no number of fewer is looked for (ours)


def line_of_number(number: float) -> Frame | None:
    """The only line of the data files under the names and in the folders that the program names on which the number
    stands; None where there are several."""
    digits = "".join(c for c in f"{abs(number):.9g}".partition("e")[0] if c.isdigit()).lstrip("0")
    if len(digits.rstrip("0")) < DIGITS:
        return None
    found: list[Frame] = []
    for file in dict.fromkeys([*named_files(None), *listed_files()]):
        lines = read_lines(file) if file.stat().st_size <= MOST_BYTES else []
        for at, line in enumerate(lines):
            # a cheap sieve before the words are parsed
            if digits[:DIGITS] in line.replace(".", "") and any(same(word, number) for word in SPLITS.split(line)):
                found.append(Frame(str(file), at + 1, "", line.strip()[:LONGEST]))
                if len(found) > 1:
                    return None
    return found[0] if found else None


def same(word: str, number: float) -> bool:
    """Whether a word is that number, once both are single precision."""
    try:
        return bool(torch.tensor(float(word)) == torch.tensor(number, dtype=torch.float32))
    except (ValueError, OverflowError):
        return False


def listed_files() -> Iterator[Path]:
    """Yield the text files of the folders that the program names, but for those its own code stands in."""
    here = Path.cwd().resolve()
    folders = dict.fromkeys(
        Path(word).resolve() for word in strings(None, None) if 0 < len(word) < 1024 and is_folder(word)
    )
    for folder in folders:
        if folder == here or folder in here.parents:
            continue
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, ENTRIES):
                if os.path.splitext(entry.name)[1].lower() in ENDINGS and entry.is_file():
                    yield Path(entry.path)
