"""The one place of a number in the arrays that a dataset keeps, and the line of the text file it was read from."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Subset

from debugtracer.callsites.data_lines import LONGEST, named_files, read_lines
from debugtracer.trace.birth import Frame

MOST_NUMBERS = 1 << 24  # of an array that is searched (ours: some ms)
MOST_BYTES = 1 << 23  # of a file that is compared (ours)
FEWEST = 16  # rows that are compared with a file (ours)
STRAIGHT = 1e-4  # of the spread that a column may lie off a straight line through the file's (ours: float32, printed)
ATTRIBUTES = 64  # of a dataset (ours)


class StoredPlace(NamedTuple):
    """The array, the row in it, and the line and cell of the file where they are known."""

    name: str
    row: int
    record: Frame | None = None
    cell: str = ""


def stored_place(dataset: Any, value: float) -> StoredPlace | None:
    """Where a number stands that is held once by the arrays of a dataset: copies that hold it in the same row are one.
    None where it stands in several rows, or in none."""
    found: dict[int, tuple[str, NDArray[Any], int]] = {}
    for owner, name, array in arrays_of(dataset):
        same = array == np.asarray(value).astype(array.dtype)
        if not bool(same.any()):
            continue
        rows, columns = np.nonzero(same)
        if len(rows) != 1:
            return None
        found.setdefault(int(rows[0]), (f"{type(owner).__name__}.{name}", array, int(columns[0])))
    if len(found) != 1:
        return None
    ((row, (name, array, column)),) = found.items()
    read = read_from(dataset, array[:, column], row)
    return StoredPlace(name, row, *read) if read is not None else StoredPlace(name, row)


def arrays_of(dataset: Any) -> Iterator[tuple[Any, str, NDArray[Any]]]:
    """Yield the floating arrays and tensors among the attributes of a dataset, and below Subsets, as tables."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    for name, value in list(getattr(dataset, "__dict__", {}).items())[:ATTRIBUTES]:
        if isinstance(value, torch.Tensor) and value.device.type == "cpu" and value.layout is torch.strided:
            value = value.detach().numpy() if value.dtype in (torch.float32, torch.float64) else None
        if type(value) is not np.ndarray or value.dtype.kind != "f" or value.ndim not in (1, 2):
            continue
        if len(value) >= FEWEST and value.size <= MOST_NUMBERS:
            yield dataset, name, value[:, None] if value.ndim == 1 else value


def read_from(dataset: Any, column: NDArray[Any], row: int) -> tuple[Frame, str] | None:
    """The line of the only file that the program names, and its cell, whose column lies on a straight line with this
    one: as it was read, or scaled since. None where no column does, or several."""
    found: dict[tuple[str, int], tuple[Frame, str]] = {}
    for file in named_files(None, dataset):
        if file.stat().st_size > MOST_BYTES:
            continue
        lines = read_lines(file)
        for header, names, table in tables_of(lines):
            for place in range(table.shape[1]):
                start = start_of(table[:, place], column)
                if start is None:
                    continue
                at = header + start + row
                title = names[place] if place < len(names) else f"column {place}"
                written = f"{table[start + row, place]:.10g}"
                frame = Frame(str(file), at + 1, "", lines[at].strip()[:LONGEST])
                found.setdefault((str(file), at), (frame, f"{title} is {written}"))
    return next(iter(found.values())) if len(found) == 1 else None


def tables_of(lines: Sequence[str]) -> Iterator[tuple[int, list[str], NDArray[Any]]]:
    """Yield the lines of a file as numbers, NaN where there is none, with the number of the first line and the names of
    the columns."""
    text = [line for line in lines if line.strip()]
    if len(text) < FEWEST or len(text) != len(lines[: len(text)]):
        return
    mark = next((one for one in (",", ";", "\t") if one in text[0]), None)
    rows = list(csv.reader(text, delimiter=mark)) if mark is not None else [line.split() for line in text]
    wide = len(rows[-1])
    header = 0 if any(as_number(one) == as_number(one) for one in rows[0]) else 1
    body = rows[header:]
    if wide < 1 or any(len(one) != wide for one in body):
        return
    yield header, rows[0] if header else [], np.array([[as_number(one) for one in line] for line in body])


def as_number(word: str) -> float:
    """A word as a number; NaN where it is none."""
    try:
        return float(word)
    except ValueError:
        return float("nan")


def start_of(whole: NDArray[Any], part: NDArray[Any]) -> int | None:
    """Where a column of a file begins to be this one, but for a scale and a shift: at its start, or so that both end
    together. None where it is another one."""
    extra = len(whole) - len(part)
    for start in dict.fromkeys((0, extra)) if extra >= 0 else ():
        one, other = whole[start : start + len(part)].astype(float), part.astype(float)
        known = np.isfinite(one) & np.isfinite(other)
        if known.sum() < max(FEWEST, 0.99 * len(part)) or np.ptp(one[known]) == 0 or np.ptp(other[known]) == 0:
            continue
        scale, shift = np.polyfit(one[known], other[known], 1)
        off = np.abs(scale * one[known] + shift - other[known])
        if scale > 0 and float(off.max()) <= STRAIGHT * float(np.median(np.abs(other - np.median(other)))) + 1e-12:
            return start
    return None
