"""Numbers of a stored array as a whole: its scale, values far from all others, columns that stand still from a row on,
and how its classes lie."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from debugtracer.observers.data.baseline import SKEW
from debugtracer.observers.data.column_extremes import BEYOND, is_varied
from debugtracer.observers.data.tensor_summary import entropy_of, moments, ranges, thinned
from debugtracer.trace.facts.stored_rows import FarValue, StoppedColumn, StoredLeaf
from debugtracer.trace.number import number

MOST_NUMBERS = 1 << 25  # of an array that is read (ours: some 50 ms)
SAMPLED = 1 << 16  # that mean and standard deviation are taken of (ours)
COLUMNS = 256  # of a table whose columns are looked at one by one (ours)
FAR_SHARE, MOST_FAR = 0.02, 64  # of the rows that may be far, so many at most (ours: more are a part of the data)
LEAST_ROWS = 64  # that say what is usual (ours)
NAMED = 16  # rows, and far values, that are named (ours)
LEARNT = 50  # parts in which a column varied (docs/rationale/checks.md#data_constant_feature)
STOPPED = 5  # parts after them in which it stood still (the same)
MOST_CLASSES, LEAST_PART = 256, 8  # kinds of a label, rows of a part whose classes are counted (ours)


def stored_leaf(path: str, name: str, store: Tensor, part: int, labels: bool) -> StoredLeaf:
    """Summarise an array in host memory; `part`: rows of a batch, `labels`: it holds the classes of a loss."""
    whole = not store.is_floating_point()
    if store.numel() > MOST_NUMBERS:
        return StoredLeaf(path=path, name=name, whole=whole)
    if labels:
        return of_labels(path, name, store.reshape(-1), part)
    some = thinned(store, SAMPLED)
    finite = some[torch.isfinite(some)] if some.is_floating_point() else some
    if whole or not finite.numel():
        return StoredLeaf(path=path, name=name, whole=whole)
    mean, std = moments(finite)
    low, high = torch.aminmax(finite)
    table = store.dim() == 2 and store.shape[1] <= COLUMNS
    return StoredLeaf(
        path=path, name=name, whole=whole, mean=number(mean), std=number(std), low=number(float(low)),
        high=number(float(high)), far=far_values(store), stopped=stopped_columns(store, part) if table else (),
    )  # fmt: skip


def of_labels(path: str, name: str, labels: Tensor, part: int) -> StoredLeaf:
    """Measure the entropy of the labels as a whole, and within parts of them as they lie."""
    least, most = (int(one) for one in torch.aminmax(labels)) if not labels.is_floating_point() else (0, MOST_CLASSES)
    parts = len(labels) // part
    if most - least >= MOST_CLASSES or part < LEAST_PART or not parts:
        return StoredLeaf(path=path, name=name, whole=not labels.is_floating_point())
    places = labels.to(torch.int64) - least
    counts = torch.bincount(places)
    pooled, step = entropy_of(counts), max(1, parts // LEARNT)
    inside = [entropy_of(torch.bincount(places[n * part : (n + 1) * part])) for n in range(0, parts, step)]
    return StoredLeaf(
        path=path, name=name, whole=True, low=number(least), high=number(most), classes=int((counts > 0).sum()),
        pooled=number(pooled), entropy=number(max(0.0, sorted(inside)[len(inside) // 2])),
        skewed=number(sum(one < SKEW * pooled for one in inside) / len(inside)),
    )  # fmt: skip


def far_values(store: Tensor) -> tuple[FarValue, ...]:
    """The numbers far from all others: of each column of a narrow table, else of the array as a whole."""
    dim, lows, highs = ranges(store)
    if store.dim() != 2 or store.shape[1] > COLUMNS:
        dim = None
        lows = lows.reshape(len(store), -1).amin(1, keepdim=True)
        highs = highs.reshape(len(store), -1).amax(1, keepdim=True)
    if len(store) < LEAST_ROWS or not bool(torch.isfinite(lows).all() and torch.isfinite(highs).all()):
        return ()
    above = far_above(store, dim, highs, lows, 1)
    return tuple([*above, *far_above(store, dim, -lows, -highs, -1)][:NAMED])


def far_above(store: Tensor, dim: int | None, tops: Tensor, bottoms: Tensor, sign: int) -> Iterator[FarValue]:
    """Yield the columns of which few rows lie beyond ten times the range of all others above them; `sign`: -1 where
    tops and bottoms are those of the negative."""
    few = min(MOST_FAR, max(1, int(FAR_SHARE * len(tops)))) + 1
    limit = tops.topk(few, 0).values[-1]
    edge = limit + BEYOND * (limit + (-bottoms).topk(few, 0).values[-1])
    for column in ((tops.amax(0) > edge) & (edge > limit)).nonzero().view(-1).tolist():
        top, bottom = tops[:, column], bottoms[:, column]
        far = top > edge[column]
        high, low = float(top[~far].max()), float(bottom[~far].min())
        value = float(top.max())
        if float(top[far].min()) - high <= BEYOND * (high - low) or not varied(store, dim, column, sign * value):
            continue
        rows = far.nonzero().view(-1).tolist()
        least, most = sorted((sign * low, sign * high))
        yield FarValue(
            value=number(sign * value), rows=tuple(rows[:NAMED]), count=len(rows),
            column=None if dim is None else column, low=number(least), high=number(most),
        )  # fmt: skip


def varied(store: Tensor, dim: int | None, column: int, value: float) -> bool:
    """Whether the others are measured numbers, no switch or code of few values."""
    return is_varied(store if dim is not None else thinned(store, SAMPLED), dim, column, value)


def stopped_columns(store: Tensor, part: int) -> tuple[StoppedColumn, ...]:
    """The columns that vary in each part of the data up to a row, and hold one value from there to the end; none
    where several fill up with one value from different rows on, as sequences do that stand in the order of length."""
    part = max(part, LEAST_PART)
    parts = len(store) // part
    if parts < LEARNT + STOPPED:
        return ()
    cut = store[: parts * part].reshape(parts, part, -1)
    still = cut.amin(1) == cut.amax(1)
    found = []
    for column in still[-STOPPED:].all(0).nonzero().view(-1).tolist():
        moves = (~still[:, column]).nonzero().view(-1)
        if len(moves) < LEARNT or int(moves[-1]) != len(moves) - 1:
            continue
        last, values = store[-1, column], store[:, column]
        row = int((values != last).nonzero().view(-1)[-1]) + 1
        found.append(StoppedColumn(column=column, row=row, value=number(float(last))))
    padded = len({one.row for one in found}) > 1 and len({one.value for one in found}) == 1
    return () if padded else tuple(found[:NAMED])
