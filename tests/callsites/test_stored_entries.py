"""Containers that hold one array many times."""

from __future__ import annotations

import ast
from collections import deque
from typing import Any

import numpy as np
import pytest
import torch

from debugtracer.callsites.stored_entries import (
    Held,
    is_array,
    parts_of,
    reachable,
    repeated,
    run_of,
    same_memory,
    writes_into,
)


class Box:
    """Holds a list."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows


def test_lists_of_the_functions_on_the_stack_are_reached():
    one = np.zeros(2)
    box = Box([(one, 1)] * 9)
    (found,) = [r for r in repeated(reachable()) if r.array is one]
    assert (found.held.where(), found.held.owner is box, found.places, found.entries) == ("Box.rows", True, ("0",), 9)


def test_the_run_ends_at_another_array():
    one, other = torch.zeros(2), torch.zeros(2)
    rows = deque([(other, 1)] * 5 + [(one, 2)] * 6)
    assert run_of(rows, 0, one) == 6 and run_of(rows, 1, one) == 0
    assert list(repeated([Held(rows, "rows", Box(rows))])) == []


def test_tensors_over_the_memory_of_one_array_are_one():
    one = np.zeros(3, dtype=np.float32)
    rows = [(torch.from_numpy(one).unsqueeze(0), at) for at in range(9)]
    assert run_of(rows, 0, rows[-1][0]) == 9
    assert same_memory(rows[0][0], one) and same_memory(one, one[:])
    assert not same_memory(one, one.copy()) and not same_memory(rows[0][0], one[:2])
    assert not same_memory(one, 0.0) and not same_memory(None, one)


def test_parts_of_an_entry():
    assert parts_of((1, 2)) == {0: 1, 1: 2} and parts_of({"a": 1}) == {"a": 1} and parts_of(3) == {None: 3}
    assert parts_of(Box(1)) == {"rows": 1}


def test_what_is_an_array():
    assert is_array(np.zeros(2)) and is_array(torch.zeros(2))
    assert not any(map(is_array, [np.zeros(1), torch.zeros(1), np.array(["a", "b"]), [1.0, 2.0], None]))
    assert not is_array(torch.zeros(2, requires_grad=True))


@pytest.mark.parametrize(
    "line", ["self.x[1:] = y", "self.x += y", "self.x[0] += 1", "self.x.add_(y)", "np.clip(self.x, 0, 1, out=self.x)"]
)
def test_lines_that_write_into_an_array(line: str):
    nodes = [n for n in ast.walk(ast.parse(line)) if isinstance(n, (ast.stmt, ast.Call))]
    assert any(writes_into(n, "self.x") for n in nodes)


@pytest.mark.parametrize("line", ["self.x = y", "y = self.x[0]", "self.x.add(y)", "self.y[0] = self.x[0]"])
def test_lines_that_do_not(line: str):
    nodes = [n for n in ast.walk(ast.parse(line)) if isinstance(n, (ast.stmt, ast.Call))]
    assert not any(writes_into(n, "self.x") for n in nodes)
