"""Two columns of a store that hold the same rows in other memory: states and next states of a replay buffer that were
one array when they were written."""

from __future__ import annotations

import ast
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
import torch

from debugtracer.callsites.definitions import frame_at, parsed
from debugtracer.callsites.stored_entries import Held, is_array, keeper_of, methods, parts_of
from debugtracer.trace.birth import Frame

LAST = 64  # entries of a list that are compared (ours)
ROWS = 1024  # of an array that are compared (ours)
FEWEST = 8  # different rows (ours): a store that is empty, or holds one state, says nothing
MOST_NUMBERS = 1 << 20  # of a column that are compared (ours)
NEARLY = 0.75  # of the rows are equal (ours): the first of an episode may come from reset(), which gives a copy
CHAINED = 0.25  # of the rows go on in the next one (ours): a state that an action does not change does, its copy too


@dataclass(frozen=True)
class EqualColumns:
    """A store, its two columns, and how many rows were compared."""

    store: str
    names: tuple[str, str]
    rows: int
    distinct: int
    owner: Any
    """The object whose attributes the columns are; None for the places of the entries of a list."""
    unequal: int = 0
    """Rows in which the columns differ."""


def equal_columns(every: list[Held], size: int) -> Iterator[EqualColumns]:
    """The pairs of columns, of rows of this size, that are equal everywhere, or nearly so and yet no chain."""
    for store, owner, columns in stores(every):
        read = {name: rows for name, value in columns.items() if (rows := rows_of(value, size)) is not None}
        for (one, first), (other, second) in itertools.combinations(read.items(), 2):
            if first.shape != second.shape or np.shares_memory(first, second):
                continue
            count = max(filled(first), filled(second))
            first, second = first[:count], second[:count]
            unequal = unequal_rows(first, second)
            distinct = len(np.unique(first, axis=0)) if unequal is not None else 0
            if distinct >= FEWEST:
                yield EqualColumns(store, (one, other), count, distinct, owner, unequal or 0)


def unequal_rows(first: Any, second: Any) -> int | None:
    """How many rows of two columns differ; None where they are not equal, or where each row begins as the one before
    it ended, as it does in a record of steps that changed nothing."""
    same = (first == second).all(axis=1)
    if same.all() or not len(same):
        return 0 if len(same) else None
    chained = max(
        (first[1:] == second[:-1]).all(axis=1).mean() if len(same) > 1 else 1.0,
        (first[:-1] == second[1:]).all(axis=1).mean() if len(same) > 1 else 1.0,
    )
    return int((~same).sum()) if same.mean() >= NEARLY and chained <= CHAINED else None


def stores(every: list[Held]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The objects with the arrays and lists that they hold, and the lists with the places of their entries."""
    owners: dict[int, tuple[Any, dict[str, Any]]] = {}
    for held in every:
        kept = isinstance(held.value, (list, deque))
        if not isinstance(held.owner, CodeType) and (kept or is_array(held.value)):
            owners.setdefault(id(held.owner), (held.owner, {}))[1][held.name] = held.value
        if kept and len(held.value) >= FEWEST and len(places := parts_of(held.value[-1])) > 1:
            last = [parts_of(entry) for entry in itertools.islice(reversed(held.value), LAST)]
            named = {f"place {p}" if isinstance(p, int) else str(p): p for p in places}
            yield held.where(), None, {name: [one.get(p) for one in last] for name, p in named.items()}
    for owner, columns in owners.values():
        yield type(owner).__name__, owner, columns


def rows_of(value: Any, size: int) -> Any:
    """The first rows of an array, or the last entries of a list of arrays; None where they are not of this size."""
    if is_array(value):
        array = plain(value)
        if array is None or array.ndim < 2 or array[:1].size != size:
            return None
        return array[: min(ROWS, MOST_NUMBERS // size)].reshape(-1, size)
    if not isinstance(value, (list, deque)) or len(value) < FEWEST:
        return None
    last = list(itertools.islice(reversed(value), LAST))
    if not all(is_array(one) for one in last) or len({id(one) for one in last}) < len(last):
        return None
    arrays = [array.reshape(-1) for one in last if (array := plain(one)) is not None and array.size == size]
    return np.stack(arrays) if len(arrays) == len(last) else None


def plain(value: Any) -> Any:
    """An array of numpy's in the memory of an array or tensor; None of a tensor that numpy cannot hold."""
    if not isinstance(value, torch.Tensor):
        return value
    known = value.layout is torch.strided and value.dtype != torch.bfloat16
    return value.detach().numpy() if known and not value.is_neg() and not value.is_conj() else None


def numbers(value: Any) -> int:
    """How many numbers an array or tensor holds."""
    return int(value.numel() if isinstance(value, torch.Tensor) else value.size)


def filled(rows: Any) -> int:
    """How many rows there are before those at the end that are all alike: those not written yet."""
    others = np.flatnonzero((rows != rows[-1]).any(axis=1))
    count = int(others[-1]) + 1 if len(others) else 0
    return len(rows) if count == len(rows) - 1 else count


def written_together(columns: EqualColumns) -> Frame | None:
    """The line that writes a row into the first of two columns, in a method that writes something else into the
    other."""
    if columns.owner is None:
        return None
    for function in methods(columns.owner):
        if getattr(type(columns.owner), function.__name__, None) is not function:
            continue  # another one stands in its place
        lines: dict[str, tuple[int, str]] = {}
        for line, node in parsed(function):
            for target, value in pairs(node) if isinstance(node, ast.Assign) else ():
                if isinstance(target, ast.Subscript):
                    lines.setdefault(ast.unparse(target.value), (line, ast.unparse(value)))
        first, other = (lines.get(f"self.{name}") for name in columns.names)
        if first is not None and other is not None and first[1] != other[1]:
            return frame_at(function, first[0])
    return None


def pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment writes, with what is written there: `a[i], b[i] = x, y` is two."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def lent(every: list[Held], size: int) -> tuple[Held, Frame, Frame | None] | None:
    """An array of the size of a row that a name of a running function holds and that is the attribute of an object,
    which writes into it: who has it, where it is written, and where it is returned."""
    for name in every:
        if isinstance(name.owner, CodeType) and is_array(name.value) and numbers(name.value) == size:
            keeper = keeper_of(name.value, every)
            if keeper is not None:
                return *keeper, returned_at(keeper[0])
    return None


def returned_at(held: Held) -> Frame | None:
    """The line of a method that returns an attribute itself."""
    for function in methods(held.owner):
        for line, node in parsed(function):
            if isinstance(node, ast.Return) and node.value is not None and has(node.value, f"self.{held.name}"):
                return frame_at(function, line)
    return None


def has(value: ast.expr, name: str) -> bool:
    """Whether an expression is a name, a tuple with it, or a choice of which it is one."""
    if isinstance(value, ast.IfExp):
        return has(value.body, name) or has(value.orelse, name)
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
    return any(ast.unparse(part) == name for part in parts)
