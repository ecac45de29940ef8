"""Stores two columns of which are equal everywhere."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
import torch

from debugtracer.callsites.equal_columns import (
    equal_columns,
    filled,
    has,
    lent,
    pairs,
    rows_of,
    unequal_rows,
    written_together,
)
from debugtracer.callsites.stored_entries import reachable

ROWS = np.arange(60.0).reshape(20, 3)


class Store:
    """Rows before and after, beside others."""

    def __init__(self, before: Any, after: Any) -> None:
        self.before, self.after, self.flag = before, after, np.zeros(20)

    def add(self, n: int, before: Any, after: Any) -> None:
        self.before[n] = before
        self.after[n] = after


class Twice(Store):
    """Writes one argument into both."""

    def add(self, n: int, before: Any, after: Any) -> None:
        self.before[n], self.after[n] = before, before


class Lender:
    """Gives its own array away."""

    def __init__(self) -> None:
        self.place = np.zeros(3)

    def step(self) -> Any:
        self.place += 1
        return self.place, 1.0


def padded(rows: Any) -> Any:
    return np.concatenate([rows, np.zeros((30, 3))])


@pytest.mark.parametrize(
    "make", [padded, lambda rows: torch.from_numpy(padded(rows)), lambda rows: [row.copy() for row in rows]]
)
def test_equal_columns_of_an_object(make: Any):
    store = Store(make(ROWS), make(ROWS))
    (found,) = [c for c in equal_columns(reachable(), 3) if c.owner is store]
    assert (found.store, found.names, found.rows, found.distinct) == ("Store", ("before", "after"), 20, 20)
    added = written_together(found)
    assert added is not None and added.code == "self.before[n] = before"


def test_places_of_the_entries_of_a_list():
    entries = [(row.copy(), 1, row.copy()) for row in ROWS]
    (found,) = [c for c in equal_columns(reachable(), 3) if c.store == "entries"]
    assert (found.names, found.rows, written_together(found)) == (("place 0", "place 2"), 20, None)
    assert entries


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (padded(ROWS), padded(ROWS + 1)),
        (padded(ROWS[:4]), padded(ROWS[:4])),
        (ROWS, ROWS),
        (ROWS, ROWS[:, :2].copy()),
        (np.zeros((20, 3)), np.zeros((20, 3))),
        ([ROWS[0]] * 20, [ROWS[0]] * 20),
    ],
    ids=["others", "few", "one memory", "another size", "empty", "one entry"],
)
def test_columns_that_are_not(before: Any, after: Any):
    store = Store(before, after)
    assert [c for c in equal_columns(reachable(), 3) if c.owner is store] == []


def test_one_argument_in_both_is_meant():
    store = Twice(ROWS.copy(), ROWS.copy())
    (found,) = [c for c in equal_columns(reachable(), 3) if c.owner is store]
    assert written_together(found) is None


def test_an_array_that_is_lent():
    lender = Lender()
    assert lent(reachable(), 3) is None
    place, _ = lender.step()
    found = lent(reachable(), 3)
    assert found is not None and found[0].where() == "Lender.place" and place is lender.place
    assert found[1].code == "self.place += 1"
    assert found[2] is not None and found[2].code == "return self.place, 1.0"
    assert lent(reachable(), 4) is None


def test_rows_that_are_filled_and_sizes():
    assert filled(padded(ROWS)) == 20 and filled(np.zeros((4, 3))) == 0
    assert rows_of(torch.zeros(20, 3, dtype=torch.bfloat16), 3) is None
    assert rows_of([torch.zeros(3), torch.zeros(2)] * 10, 3) is None
    assert rows_of(np.zeros(6), 1) is None and rows_of("rows", 3) is None


def test_statements_are_taken_apart():
    (node,) = ast.parse("a[0], b[1] = x, y").body
    assert isinstance(node, ast.Assign)
    assert [(ast.unparse(t), ast.unparse(v)) for t, v in pairs(node)] == [("a[0]", "x"), ("b[1]", "y")]
    assert has(ast.parse("self.a, 1", mode="eval").body, "self.a")
    assert has(ast.parse("b if c else self.a", mode="eval").body, "self.a")
    assert not has(ast.parse("self.a.copy()", mode="eval").body, "self.a")


def test_nearly_equal_columns_that_are_no_chain():
    """States that were overwritten before they were stored, all but the first of each episode; not steps that change
    nothing."""
    after = np.arange(60.0).reshape(20, 3)
    before = after.copy()
    before[::10] -= 1
    assert unequal_rows(before, after) == 2 and unequal_rows(before[::-1], after[::-1]) == 2
    stuck = np.repeat(np.arange(5.0), 4)[:, None]
    assert unequal_rows(np.concatenate([stuck[:1], stuck[:-1]]), stuck) is None
    assert unequal_rows(before, after - 1) is None and unequal_rows(after[:0], after[:0]) is None
    assert unequal_rows(after, after) == 0
