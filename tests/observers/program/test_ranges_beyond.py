"""Ranges of places that end behind what they pick from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from debugtracer.observers.program.ranges_beyond import range_beyond
from debugtracer.trace.facts.crash import CutSeen

TABLE, BEGINS = np.zeros((40, 3)), np.array([3, 34])


def seen(program: Callable[[], object]) -> CutSeen | None:
    with pytest.raises((IndexError, RuntimeError)) as caught:
        program()
    return range_beyond(caught.value)


def windows():
    for j in range(len(BEGINS)):
        rows = TABLE[range(
            BEGINS[j], BEGINS[j] + 8), :]  # fmt: skip
    return rows


def places():
    series, start = torch.zeros(40), 38
    return series[torch.arange(start, start + 4)]


def columns():
    return TABLE[:, np.arange(4)]


@pytest.mark.parametrize(
    ("program", "low", "high", "size"), [(windows, 34, 42, 40), (places, 38, 42, 40), (columns, 0, 4, 3)]
)
def test_the_range_is_found(program: Callable[[], object], low: int, high: int, size: int):
    found = seen(program)
    assert found is not None and found.picked and (found.low, found.high, found.size) == (low, high, size)


def test_its_line_is_where_it_begins():
    found = seen(windows)
    assert found is not None and found.frame.code == "BEGINS[j], BEGINS[j] + 8), :]  # fmt: skip"


def one_place():
    n = 41
    return TABLE[n]


def another_table():
    other = np.zeros(40)
    return TABLE[other[range(3)].astype(int) + 50]


def not_this_one():
    return TABLE[range(2)][0, [7]]


@pytest.mark.parametrize("program", [one_place, another_table, not_this_one])
def test_none_where_no_range_is_to_blame(program: Callable[[], object]):
    assert seen(program) is None


def test_another_error_is_no_range():
    assert range_beyond(ValueError("index 3 is wrong")) is None
