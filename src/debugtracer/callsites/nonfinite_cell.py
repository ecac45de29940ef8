"""The only cell of the tables that a program reads which is no finite number, among numbers: a missing value."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from debugtracer.callsites.data_lines import LONGEST, named_files, read_lines
from debugtracer.callsites.stored_place import FEWEST, MOST_BYTES
from debugtracer.trace.birth import Frame

MISSING = frozenset({"", "na", "n/a", "null", "none"})
"""How a value that is missing is written, beside what float() takes for NaN or Inf."""
PLAIN = 0.9  # of a column that are numbers (ours)


def nonfinite_cell(dataset: Any) -> tuple[Frame, str] | None:
    """The line of that cell, and what is written there under which title; None where no table has one, or there are
    more."""
    found: list[tuple[Frame, str]] = []
    for file in named_files(None, dataset):
        if file.stat().st_size <= MOST_BYTES and file.suffix not in (".json", ".jsonl"):
            found += cells(file)
        if len(found) > 1:
            return None
    return found[0] if found else None


def cells(file: Path) -> list[tuple[Frame, str]]:
    """The cells of one file that are no finite numbers, as far as two."""
    text = read_lines(file)
    mark = next((one for one in (",", ";", "\t") if text and one in text[0]), None)
    if mark is None or len(text) < FEWEST:
        return []
    rows = list(csv.reader(text, delimiter=mark))
    if len(rows) != len(text):
        return []
    titles = [] if any(number(cell) is not None for cell in rows[0]) else rows[0]
    found = []
    for at, column in list(odd(rows[bool(titles) :], len(rows[-1])))[:2]:
        line = at + bool(titles)
        title = titles[column] if column < len(titles) else f"column {column}"
        frame = Frame(str(file), line + 1, "", text[line].strip()[:LONGEST])
        found.append((frame, f"{title} is '{rows[line][column].strip()}'"))
    return found


def odd(rows: Sequence[Sequence[str]], wide: int) -> Iterator[tuple[int, int]]:
    """Yield the row and column of each cell that is no finite number, of columns of numbers."""
    for column in range(wide):
        values = [row[column] if column < len(row) else None for row in rows]
        numbers = sum(1 for one in values if one is not None and number(one) is not None)
        if numbers < PLAIN * len(values):
            continue
        for at, one in enumerate(values):
            if one is None:
                continue
            known = number(one)
            if (known is None and one.strip().lower() in MISSING) or (known is not None and not math.isfinite(known)):
                yield at, column


def number(cell: str) -> float | None:
    """Read a cell; None where it holds no number."""
    try:
        return float(cell)
    except ValueError:
        return None
