"""A whole series in a few bins, from the coarsest roll-up that is fine enough."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from debugtracer.trace.store.schema import BLOCK, GROUP
from debugtracer.trace.store.series.arrow_arrays import as_numpy, is_valid
from debugtracer.trace.store.series.blocks import Steps, points_of, whole

Floats = npt.NDArray[np.float64]
PIECES_PER_BIN = 4  # so that a piece that straddles a border shifts a bin by a quarter at most


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """One bin of an overview: steps step0..step1 (inclusive), n values of which `bad` are not finite; low, high, mean
    over the finite ones (None if none)."""

    step0: int
    step1: int
    n: int
    low: float | None
    high: float | None
    mean: float | None
    bad: int


Pieces = tuple[Steps, Steps, Floats, Floats, Floats, Steps]
"""First step, count, min, max, sum and bad count of pieces, each shape (pieces,)."""


def level_for(n: int, bins: int) -> int:
    """The coarsest of 1024, 32, 1 points a piece that leaves at least 4 pieces in a bin."""
    for size in (BLOCK, GROUP):
        if n >= size * bins * PIECES_PER_BIN:
            return size
    return 1


def columns_for(level: int) -> list[str]:
    """The columns of a sealed file that `pieces_of` needs at a level."""
    base = ["series", "step0", "step1", "stride", "steps", "n", "min", "max", "sum", "bad"]
    return (
        base if level == BLOCK else [*base, "min32", "max32", "sum32", "bad32"] + ([] if level == GROUP else ["values"])
    )


def pieces_of(rows: Any, level: int) -> Pieces:
    """The pieces of sealed rows of one series at a level; thinned rows give their x32 roll-up at level 1."""
    if level == BLOCK:
        n, bad = as_numpy(rows.column("n")), as_numpy(rows.column("bad"))
        low, high = (as_numpy(rows.column(c)).astype(np.float64) for c in ("min", "max"))
        return as_numpy(rows.column("step0")), n, low, high, as_numpy(rows.column("sum")), bad
    import pyarrow.compute as pc

    thin = rows if level == GROUP else rows.filter(pc.is_null(rows.column("values")))
    parts = [group_pieces(thin)] if len(thin) else []
    if level == 1:
        steps, values = points_of(rows)
        wide, finite = values.astype(np.float64), np.isfinite(values)
        shown = np.where(finite, wide, np.nan)
        parts.append(
            (
                steps,
                np.ones(len(steps), np.int64),
                shown,
                shown,
                np.where(finite, wide, 0.0),
                (~finite).astype(np.int64),
            )
        )
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]


def group_pieces(rows: Any) -> Pieces:
    """The x32 roll-up of rows."""
    n = as_numpy(rows.column("n")).astype(np.int64)
    groups = -(-n // GROUP)
    within = GROUP * (np.arange(groups.sum(), dtype=np.int64) - np.repeat(np.cumsum(groups) - groups, groups))
    steps = (
        np.repeat(as_numpy(rows.column("step0")), groups) + np.repeat(as_numpy(rows.column("stride")), groups) * within
    )
    uneven = whole(rows.column("steps"))
    listed = is_valid(uneven)
    if listed.any():
        starts = np.zeros(len(n), np.int64)
        starts[listed] = np.cumsum(n[listed]) - n[listed]
        of = np.repeat(listed, groups)
        steps[of] = as_numpy(uneven.flatten())[(np.repeat(starts, groups) + within)[of]]
    low, high, total, bad = (as_numpy(whole(rows.column(c)).flatten()) for c in ("min32", "max32", "sum32", "bad32"))
    counts = np.minimum(GROUP, np.repeat(n, groups) - within)
    return steps, counts, low.astype(np.float64), high.astype(np.float64), total, bad.astype(np.int64)


def binned(pieces: Pieces, last: int, bins: int) -> list[Bin]:
    """Return at most `bins` bins of equal width in steps, empty ones left out; `last` is the series' last step."""
    steps, n, low, high, total, bad = pieces
    if not len(steps):
        return []
    first = int(steps.min())
    width = -(-(last - first + 1) // bins)
    where = (steps - first) // width
    count, wrong = (np.bincount(where, column, bins).astype(np.int64) for column in (n, bad))
    sums = np.bincount(where, total, bins)
    lows, highs = np.full(bins, np.nan), np.full(bins, np.nan)
    order = np.argsort(where, kind="stable")
    used, starts = np.unique(where[order], return_index=True)
    lows[used], highs[used] = np.fmin.reduceat(low[order], starts), np.fmax.reduceat(high[order], starts)
    return [a_bin(first + int(i) * width, width, last, count[i], wrong[i], sums[i], lows[i], highs[i]) for i in used]


def a_bin(step0: int, width: int, last: int, n: int, bad: int, total: float, low: float, high: float) -> Bin:
    """Build one bin from its numbers; NaN low and high mean that nothing in it is finite."""
    good = int(n) - int(bad)
    edges = (float(low), float(high), float(total) / good) if good else (None, None, None)
    return Bin(
        step0=step0,
        step1=min(step0 + width - 1, last),
        n=int(n),
        low=edges[0],
        high=edges[1],
        mean=edges[2],
        bad=int(bad),
    )
