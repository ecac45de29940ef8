"""Points to rows and back: how steps and values of one series become list-block rows with their roll-ups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from debugtracer.trace.store.schema import BLOCK, GROUP, live_schema, series_schema

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
    import pyarrow as pa

    columns: dict[str, tuple[list[int], list[float]]] = {}
    for step, values in points:
        for name, value in values.items():
            steps, floats = columns.setdefault(name, ([], []))
            steps.append(step)
            floats.append(value)
    arrays = [np.asarray(steps, dtype=np.int64) for steps, _ in columns.values()]
    strides = [stride_of(steps) for steps in arrays]
    data = [
        list(columns),
        [steps[0] for steps in arrays],
        strides,
        [None if stride else steps for steps, stride in zip(arrays, strides, strict=True)],
        [as_float32(floats) for _, floats in columns.values()],
    ]
    schema = live_schema()
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(data, schema, strict=True)], schema=schema)


def points_of(rows: Any) -> tuple[Steps, Values]:
    """Return steps and values, each shape (n,), of the rows (a table) of one series; rows without values give
    nothing."""
    import pyarrow.compute as pc

    rows = rows.filter(pc.is_valid(rows.column("values")))
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.float32)
    lists = rows.column("values").combine_chunks()
    counts = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    within = np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = (
        np.repeat(rows.column("step0").to_numpy(), counts)
        + np.repeat(rows.column("stride").to_numpy(), counts) * within
    )
    uneven = rows.column("steps").combine_chunks()
    if uneven.null_count < len(uneven):
        steps[np.repeat(uneven.is_valid().to_numpy(zero_copy_only=False), counts)] = uneven.flatten().to_numpy()
    return steps, lists.flatten().to_numpy()


def bad_rows(rows: Any) -> Any:
    """The rows (of a table) that hold a value that is not finite."""
    if not len(rows):
        return rows
    lists = rows.column("values").combine_chunks()
    at: Steps = np.flatnonzero(~np.isfinite(lists.flatten().to_numpy()))
    starts = lists.offsets.to_numpy()
    return rows.take(np.unique(np.searchsorted(starts - starts[0], at, side="right") - 1))


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
    columns: dict[str, Any] = {
        "series": [name] * len(starts),
        "step0": [part[0] for part in parts],
        "step1": [part[-1] for part in parts],
        "stride": strides,
        "steps": [None if stride else part for part, stride in zip(parts, strides, strict=True)],
        "n": [len(part) for part in parts],
        "min": pa.array(np.fmin.reduceat(low, groups), mask=empty),
        "max": pa.array(np.fmax.reduceat(high, groups), mask=empty),
        "sum": np.add.reduceat(total, groups),
        "bad": bads,
        "first_bad": first_bad,
        "min32": listed(low, BLOCK // GROUP),
        "max32": listed(high, BLOCK // GROUP),
        "sum32": listed(total, BLOCK // GROUP),
        "bad32": listed(bad, BLOCK // GROUP),
        "values": listed(values, BLOCK),
    }
    schema = series_schema()
    return pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


def listed(flat: npt.NDArray[Any], size: int) -> Any:
    """A list array of `flat`, shape (n,), cut into lists of `size`."""
    import pyarrow as pa

    offsets = np.append(np.arange(0, len(flat), size, dtype=np.int32), np.int32(len(flat)))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat))
