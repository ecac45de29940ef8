"""The one number that is the maximum of a stored array by far, where it stands, and the line of the text file that it
was read from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Subset, TensorDataset

from debugtracer.callsites.data_lines import LONGEST, named_files, read_lines
from debugtracer.callsites.stored_place import FEWEST, MOST_BYTES, MOST_NUMBERS, arrays_of, tables_of
from debugtracer.trace.birth import Frame

ONE = 1e-5  # that a maximum may lie off 1 after a division by it (ours: float32)
SHARE = 0.01  # of it that all others are below (ours)
VARIED = 64  # different values of the others at least (ours)
PLAIN = 0.5  # share of one of them at most (ours)
SEEN = 1 << 16  # of them that are looked at (ours)
MOST_PLACES = 4096  # of the maximum in windows that overlap (ours)
CLOSE = 1e-3  # of the range of a column that a number may lie off the file's (ours: float32, printed)
Table = tuple[int, list[str], NDArray[Any]]


class StoredMaximum(NamedTuple):
    """Where it stands; `column` is that of the array, and `first` are the numbers of it from row 0 on."""

    name: str
    row: int
    column: int | None
    low: float
    high: float
    samples: tuple[int, ...]
    first: NDArray[Any]


def stored_maximum(dataset: Any) -> StoredMaximum | None:
    """The first array of a dataset whose maximum is 1 in one place, or in the windows that overlap there, while all
    others are below a hundredth and differ from each other."""
    for name, array in stored(dataset):
        if array.size < VARIED or not np.isclose(array.max(), 1.0, atol=ONE):
            continue
        at = array == array.max()
        rest = array[~at]
        if not rest.size or rest.max() > SHARE or rest.min() < -SHARE or not varied(rest):
            continue
        found = place_of(array, np.argwhere(at)) if at.sum() <= MOST_PLACES else None
        if found is not None and varied(found[2][found[2] < SHARE]):
            samples = tuple(sorted(samples_of(dataset, array)))
            return StoredMaximum(name, found[0], found[1], float(rest.min()), float(rest.max()), samples, found[2])
    return None


def samples_of(dataset: Any, array: NDArray[Any]) -> set[int]:
    """The samples that show the maximum of an array; none where its rows are no samples."""
    every = [other == array.max() for _, other in stored(dataset) if len(other) == len(array) == len(dataset)]
    return {int(one) for held in every for one in np.nonzero(held)[0]}


def stored(dataset: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the floating arrays of a dataset, of a TensorDataset its tensors."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    for place, value in enumerate(dataset.tensors if isinstance(dataset, TensorDataset) else ()):
        plain = value.layout is torch.strided and value.device.type == "cpu"
        if plain and value.dtype in (torch.float32, torch.float64) and 0 < value.numel() <= MOST_NUMBERS:
            yield f"{type(dataset).__name__}.tensors[{place}]", value.detach().numpy()
    for owner, name, array in arrays_of(dataset):
        yield f"{type(owner).__name__}.{name}", array


def varied(values: NDArray[Any]) -> bool:
    """Whether these are measured numbers: many different ones."""
    some = values.reshape(-1)[:: max(1, values.size // SEEN)]
    kinds, counts = np.unique(some, return_counts=True)
    return len(kinds) >= VARIED and int(counts.max()) <= PLAIN * len(some)


def place_of(array: NDArray[Any], at: NDArray[Any]) -> tuple[int, int | None, NDArray[Any]] | None:
    """The row and column of one place, or of the only element that windows of a series show; with the column from its
    first row on."""
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        return (int(at[0][0]), None, array.reshape(-1)) if len(at) == 1 else None
    if array.ndim == 2 and len(at) == 1:
        return int(at[0][0]), int(at[0][1]), array[:, at[0][1]]
    if array.ndim not in (2, 3) or len({tuple(one) for one in np.c_[at[:, 0] + at[:, 1], at[:, 2:]].tolist()}) != 1:
        return None
    column = int(at[0][2]) if array.ndim == 3 else None
    return int(at[0][0] + at[0][1]), column, array[:, 0, column] if column is not None else array[:, 0]


def read_as(dataset: Any, found: StoredMaximum) -> tuple[Frame, str] | None:
    """The line of the only file that the program names whose largest number is in that place, and its cell: the rest of
    the column is that of the array, but for the scale."""
    places: dict[tuple[str, int], tuple[Frame, str]] = {}
    for file in named_files(None, dataset):
        lines = read_lines(file) if file.stat().st_size <= MOST_BYTES else []
        for header, names, table in with_numbered_columns(tables_of(lines)):
            row, column = divmod(int(np.nanargmax(table)), table.shape[1])
            start = row - found.row
            if (
                start < 0
                or abs(table[row, column] - 1) < ONE
                or not is_scaled(table[:, column], start, row, found.first)
            ):
                continue
            at = header + row
            title = names[column] if column < len(names) else f"column {column}"
            cell = f"{title} is {table[row, column]:.10g}"
            places[str(file), at] = Frame(str(file), at + 1, "", lines[at].strip()[:LONGEST]), cell
    return next(iter(places.values())) if len(places) == 1 else None


def with_numbered_columns(tables: Iterator[Table]) -> Iterator[Table]:
    """Yield each table, and without its first row where that may hold numbers as names; none without numbers."""
    for header, names, table in tables:
        rest = [] if header else [(1, [f"{one:.10g}" for one in table[0]], table[1:])]
        for one in [(header, names, table), *rest]:
            if not np.isnan(one[2]).all():
                yield one


def is_scaled(column: NDArray[Any], start: int, row: int, first: NDArray[Any]) -> bool:
    """Whether a column of a file, from a row on, is this one times a scale and with a shift, such that the largest is
    1."""
    count = min(len(first), len(column) - start)
    one, other = column[start : start + count], first[:count].astype(float)
    known = np.isfinite(one) & (np.arange(start, start + count) != row)
    if known.sum() < FEWEST:
        return False
    one, other = one[known], other[known]
    top = int(other.argmax())
    scale = (column[row] - one[top]) / (1 - other[top])
    off = np.abs(column[row] + (other - 1) * scale - one)
    return bool(off.max() <= CLOSE * max(float(np.ptp(one)), 1e-12))
