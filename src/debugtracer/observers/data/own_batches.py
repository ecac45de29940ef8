"""Batches that the program cuts itself: which rows of which stored arrays a step was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from debugtracer.callsites.frames import frames_of
from debugtracer.callsites.stored_columns import StoredColumn, stored_columns
from debugtracer.observers.loss.followed_rows import FollowedRows
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.stored_rows import FarValue, StoredLeaf, StoredRows

FEWEST = 4  # rows of a batch, different ones, that are told from others by their values (ours)
MOST_ROWS = 1 << 16  # rows of an array that a batch is looked up in by value (ours: 40 MB for the moment)
COLUMNS = 64  # numbers of a row that are compared first (ours)
MOST_NUMBERS = 1 << 22  # of a batch (ours)
MOST_LISTED = 1 << 17  # rows in lists that are made arrays for one look (ours)


@dataclass(frozen=True)
class OwnLeaf:
    """One tensor of a step and the array that its rows were taken from."""

    path: str
    store: Tensor
    """All rows, in the memory of the program where that is possible: not to be kept."""
    column: StoredColumn | None
    """What holds it; None where no name of the program does. Not to be kept."""

    @property
    def name(self) -> str:
        """What the program calls it."""
        return self.column.what() if self.column is not None else "the data"


@dataclass(frozen=True)
class OwnBatch:
    """What one step was given of stored data."""

    leaves: tuple[OwnLeaf, ...]
    rows: tuple[int, ...]
    length: int
    frame: Frame | None
    """The line that took the rows; None where it is not known."""

    @property
    def in_order(self) -> bool:
        """Whether the rows lie one after the other."""
        return self.rows == tuple(range(self.rows[0], self.rows[0] + len(self.rows)))


Given = Sequence[tuple[str, Tensor]]
"""Tensors without a graph that a step was given, each with its path."""


class OwnBatches:
    """One per process. What observers of data ask where no loader delivers a batch."""

    def __init__(self) -> None:
        self.latest: tuple[str, int, int] | None = None
        """Name and length of the array that the last batch was found in, and how many rows it had."""
        self.told: StoredRows | None = None
        """What is known of the data."""
        self.listeners: list[Callable[[OwnBatch], None]] = []
        """Who is told of each batch that was found."""

    def found(self, given: Given, followed: FollowedRows) -> OwnBatch | None:
        """Find where the tensors of a step come from: by the index that took them, else by their values among
        the arrays that the program's running functions can reach."""
        leaves = [(path, value) for path, value in given if value.dim()]
        count = len(leaves[0][1]) if leaves else 0
        leaves = [(path, value) for path, value in leaves if len(value) == count]
        if count < FEWEST:
            return None
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            columns = [*searched(stored_columns(count))]
            columns.sort(key=lambda one: one.cut)  # names of the whole before those of a part
            first = by_index(leaves, followed, columns) or by_value(leaves, columns)
            if first is None:
                return None
            path, leaf, rows, frame = first
            others = [*beside(leaves, path, rows, leaf, columns)]
            found = OwnBatch((leaf, *others), rows, len(leaf.store), frame)
            for listener in self.listeners:
                listener(found)
        self.latest = leaf.name, len(leaf.store), count
        return found

    def know(self, told: StoredRows | None) -> None:
        """Remember what the data are like."""
        self.told = told

    def rows_now(self) -> tuple[int, ...]:
        """The rows of that array among what the program's running functions hold now, in any step; nothing where none
        are."""
        if self.latest is None:
            return ()
        name, length, count = self.latest
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            columns = [*stored_columns(0)]
            store = next((c.table for c in columns if c.what() == name and len(c) == length), None)
            for one in columns if store is not None else ():
                values = one.table if len(one) == count else None
                rows = rows_in(store, values) if store is not None and values is not None and is_plain(values) else None
                if rows is not None:
                    return rows
        return ()

    def far_now(self, rows: tuple[int, ...]) -> Iterator[tuple[StoredLeaf, FarValue]]:
        """Yield what is known to be far from all others in these rows."""
        for leaf in self.told.leaves if self.told is not None else ():
            yield from ((leaf, far) for far in leaf.far if set(far.rows).intersection(rows))


def searched(columns: Iterable[StoredColumn]) -> Iterator[StoredColumn]:
    """Yield those that a batch is looked up in: of lists, which are made arrays, the first."""
    listed = 0
    for one in columns:
        if len(one) > MOST_ROWS:
            continue
        listed += len(one) if isinstance(one.value, list) else 0
        if listed <= MOST_LISTED or not isinstance(one.value, list):
            yield one


Origin = tuple[str, OwnLeaf, tuple[int, ...], Frame | None]


def by_index(leaves: Given, followed: FollowedRows, columns: Sequence[StoredColumn]) -> Origin | None:
    """The first tensor whose rows were taken by an index on the tape."""
    for path, value in leaves:
        taken = followed.known(value)
        store = taken.store() if taken is not None else None
        if taken is not None and store is not None and is_plain(store) and len(taken.rows) == len(value):
            frames = frames_of(taken.raw)
            return path, OwnLeaf(path, store.detach(), holder(store, columns)), whole_numbers(taken.rows), frames[0]
    return None


def by_value(leaves: Given, columns: Sequence[StoredColumn]) -> Origin | None:
    """The first tensor all of whose rows are rows of a stored array."""
    for path, value in hosted(leaves):
        for column in columns:
            store = column.table
            rows = rows_in(store, value) if store is not None and is_plain(store) else None
            if rows is not None and store is not None:
                same = [one for one in columns if one.value is column.value]
                cut = next((line for one in same if (line := one.cut_at()) is not None), None)
                return path, OwnLeaf(path, store, column), rows, cut
    return None


def beside(
    leaves: Given, known: str, rows: tuple[int, ...], leaf: OwnLeaf, columns: Sequence[StoredColumn]
) -> Iterator[OwnLeaf]:
    """Yield the arrays of as many rows that hold the other tensors of the step at the same rows."""
    index = torch.tensor(rows)
    for path, value in hosted(leaves):
        for column in columns if path != known else ():
            store = column.table if len(column) == len(leaf.store) else None
            if store is None or not is_plain(store) or store.data_ptr() == leaf.store.data_ptr():
                continue
            if store[index].numel() == value.numel() and equal(store[index], value):
                yield OwnLeaf(path, store, column)
                break


def hosted(leaves: Given) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors that can be compared, in host memory. Waits for a device."""
    for path, value in leaves:
        plain = value.cpu() if value.numel() <= MOST_NUMBERS else value
        if is_plain(plain):
            yield path, plain


def holder(store: Tensor, columns: Sequence[StoredColumn]) -> StoredColumn | None:
    """What holds a stored tensor; None where no name does."""
    near = (c for c in columns if not isinstance(c.value, list) and len(c) == len(store))
    return next((c for c in near if (array := c.table) is not None and array.data_ptr() == store.data_ptr()), None)


def rows_in(store: Tensor, values: Tensor) -> tuple[int, ...] | None:
    """The rows of an array that equal those of a tensor, one by one; None where one is in none, or where few of them
    differ, or one number says nothing."""
    count, width = len(values), values[:1].numel()
    plain = not values.is_floating_point() and width < 2
    if count < FEWEST or len(store) <= count or store[:1].numel() != width or plain or values.numel() > MOST_NUMBERS:
        return None
    wanted = values.reshape(count, -1)[:, :COLUMNS]
    held = store.reshape(len(store), -1)[:, :COLUMNS].to(wanted.dtype)
    if not bool((held == wanted[-1]).all(1).any()):
        return None
    places = {row: n for n, row in reversed([*enumerate(as_bytes(held))])}
    rows = [places.get(row, -1) for row in as_bytes(wanted)]
    if -1 in rows or len(set(rows)) < FEWEST:
        return None
    return tuple(rows) if equal(store[torch.tensor(rows)], values) else None


def as_bytes(rows: Tensor) -> list[bytes]:
    """The bytes of each row."""
    table = rows.contiguous().view(torch.uint8).numpy()
    return [one.tobytes() for one in table]


def equal(ours: Tensor, theirs: Tensor) -> bool:
    """Whether two tensors of as many numbers hold the same, NaN where the other has NaN."""
    a, b = ours.reshape(-1).to(theirs.dtype), theirs.reshape(-1)
    return bool(((a == b) | ((a != a) & (b != b))).all())


def whole_numbers(rows: Tensor) -> tuple[int, ...]:
    """The numbers of rows as plain ones."""
    found: list[int] = rows.tolist()
    return tuple(found)


def is_plain(value: Tensor) -> bool:
    """Whether it is a dense tensor of real numbers in host memory."""
    dense = value.device.type == "cpu" and value.layout is torch.strided and not value.is_nested
    return dense and not value.is_complex() and not value.is_quantized and value.dim() > 0 and value.numel() > 0
