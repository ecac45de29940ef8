"""Points to rows and back: how steps and values of one series become list-block rows with their roll-ups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from debugtracer.trace.store.schema import BLOCK, GROUP, live_schema, series_schema
from debugtracer.trace.store.series.arrow_arrays import as_numpy, cut, is_valid, lists, numbers, words

Steps = npt.NDArray[np.int64]
Values = npt.NDArray[np.float32]
LARGEST = np.finfo(np.float32).max


def as_float32(values: Iterable[float]) -> Values:
    """Convert to float32, shape (n,); finite values beyond its range become +-3.4e38, so that they do not read as
    infinite."""
    wide = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(wide)
    wide[finite] = np.clip(wide[finite], -LARGEST, LARGEST)
    return wide.astype(np.float32)


def stride_of(steps: Steps) -> int:
    """The distance of evenly spaced ascending steps, shape (n,); 0 if they are not."""
    if len(steps) == 1:
        return 1
    first = int(steps[1] - steps[0])
    return first if first > 0 and bool((np.diff(steps) == first).all()) else 0


def live_batch(points: Iterable[tuple[int, dict[str, float]]]) -> Any:
    """A record batch of the live stream from (step, values) points, one row per series."""
    from debugtracer.trace.store import stream_arrays as stream

    columns: dict[str, tuple[list[int], list[float]]] = {}
    for step, values in points:
        for name, value in values.items():
            steps, floats = columns.setdefault(name, ([], []))
            steps.append(step)
            floats.append(value)
    arrays = [np.asarray(steps, dtype=np.int64) for steps, _ in columns.values()]
    strides = [stride_of(steps) for steps in arrays]
    uneven = [None if stride else steps for steps, stride in zip(arrays, strides, strict=True)]
    data = [
        stream.words(list(columns)),
        stream.numbers([steps[0] for steps in arrays], "int64"),
        stream.numbers(strides, "int64"),
        stream.number_lists(uneven, "int64"),
        stream.number_lists([as_float32(floats) for _, floats in columns.values()], "float32"),
    ]
    return stream.batch(live_schema(), data, len(columns))


def points_of(rows: Any) -> tuple[Steps, Values]:
    """Return steps and values, each shape (n,), of the rows (a table) of one series; rows without values give
    nothing."""
    import pyarrow.compute as pc

    rows = rows.filter(pc.is_valid(rows.column("values")))
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.float32)
    values = whole(rows.column("values"))
    counts = as_numpy(pc.list_value_length(values))
    within = np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = (
        np.repeat(as_numpy(rows.column("step0")), counts) + np.repeat(as_numpy(rows.column("stride")), counts) * within
    )
    uneven = whole(rows.column("steps"))
    if uneven.null_count < len(uneven):
        steps[np.repeat(is_valid(uneven), counts)] = as_numpy(uneven.flatten())
    return steps, as_numpy(values.flatten())


def whole(column: Any) -> Any:
    """The one array of a column of a table."""
    return column.combine_chunks()


def bad_rows(rows: Any) -> Any:
    """The rows (of a table) that hold a value that is not finite."""
    if not len(rows):
        return rows
    import pyarrow as pa

    values = whole(rows.column("values"))
    at: Steps = np.flatnonzero(~np.isfinite(as_numpy(values.flatten())))
    starts = as_numpy(values.offsets)
    return rows.take(numbers(np.unique(np.searchsorted(starts - starts[0], at, side="right") - 1), pa.int64()))


def one_each(steps: Steps, values: Values) -> tuple[Steps, Values]:
    """Return ascending steps without repetition, shape (n,); of a step written twice the value written last."""
    if len(steps) < 2 or (np.diff(steps) > 0).all():
        return steps, values
    order = np.argsort(steps, kind="stable")
    steps, values = steps[order], values[order]
    last = np.append(steps[1:] != steps[:-1], True)
    return steps[last], values[last]


def grouped(values: Values) -> tuple[Values, Values, npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Return min, max, sum (of finite values; NaN, NaN, 0 if none) and bad count of each 32 values, shape (ceil(n /
    32),)."""
    padded = np.full((-(-len(values) // GROUP), GROUP), np.nan, np.float32)
    padded.reshape(-1)[: len(values)] = values
    finite = np.isfinite(padded)
    some = finite.any(axis=1)
    low = np.where(some, np.where(finite, padded, np.inf).min(axis=1), np.nan)
    high = np.where(some, np.where(finite, padded, -np.inf).max(axis=1), np.nan)
    bad = (~finite).sum(axis=1)
    bad[-1] -= padded.size - len(values)
    return low, high, np.where(finite, padded, 0.0).sum(axis=1, dtype=np.float64), bad.astype(np.int32)


def series_rows(name: str, steps: Steps, values: Values) -> Any:
    """The sealed rows (a table) of one series from its points in the order they were written, shape (n,), n >= 1."""
    import pyarrow as pa

    order = np.argsort(steps, kind="stable")
    steps, values = steps[order], values[order]
    low, high, total, bad = grouped(values)
    starts = np.arange(0, len(values), BLOCK)
    parts = [steps[i : i + BLOCK] for i in starts]
    strides = [stride_of(part) for part in parts]
    groups = starts // GROUP
    bads = np.add.reduceat(bad, groups)
    first_bad = [
        int(part[~np.isfinite(values[i : i + BLOCK])][0]) if b else None
        for i, part, b in zip(starts, parts, bads, strict=True)
    ]
    empty = bads == np.array([len(part) for part in parts])
    none = np.array([first is None for first in first_bad])
    firsts = [0 if first is None else first for first in first_bad]
    schema, groups_each = series_schema(), BLOCK // GROUP
    kind = {field.name: field.type for field in schema}
    columns: dict[str, Any] = {
        "series": words([name] * len(starts)),
        "step0": numbers([part[0] for part in parts], kind["step0"]),
        "step1": numbers([part[-1] for part in parts], kind["step1"]),
        "stride": numbers(strides, kind["stride"]),
        "steps": lists([None if s else part for part, s in zip(parts, strides, strict=True)], kind["steps"]),
        "n": numbers([len(part) for part in parts], kind["n"]),
        "min": numbers(np.fmin.reduceat(low, groups), kind["min"], ~empty),
        "max": numbers(np.fmax.reduceat(high, groups), kind["max"], ~empty),
        "sum": numbers(np.add.reduceat(total, groups), kind["sum"]),
        "bad": numbers(bads, kind["bad"]),
        "first_bad": numbers(firsts, kind["first_bad"], ~none),
        "min32": cut(low, ends_of(low, groups_each), kind["min32"]),
        "max32": cut(high, ends_of(high, groups_each), kind["max32"]),
        "sum32": cut(total, ends_of(total, groups_each), kind["sum32"]),
        "bad32": cut(bad, ends_of(bad, groups_each), kind["bad32"]),
        "values": cut(values, ends_of(values, BLOCK), kind["values"]),
    }
    return pa.table([columns[f.name] for f in schema], schema=schema)


def ends_of(flat: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Where lists of `size` begin and end in `flat`, shape (n,)."""
    return np.append(np.arange(0, len(flat), size), len(flat))
