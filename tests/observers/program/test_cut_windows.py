"""Slices that came out too short, found in the frames of a crash."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from debugtracer.observers.program.cut_windows import cut_short
from debugtracer.trace.facts.crash import CutSeen

TEXT = "the tide comes and goes " * 4
SERIES = torch.arange(96.0)


def seen(program: Callable[[], object]) -> CutSeen | None:
    with pytest.raises((RuntimeError, ValueError)) as caught:
        program()
    return cut_short(caught.value)


def a_chunk():
    rows = torch.zeros(2, 20, dtype=torch.long)
    start = len(TEXT) - 20
    end = start + 20 + 1
    chunk = TEXT[start:end]
    rows[0] = torch.tensor([ord(c) for c in chunk[1:]])


def stacked():
    begins = torch.tensor([3, 72, 40])
    return torch.stack([SERIES[b + 1 : b + 1 + 24] for b in begins])


def columns():
    table, first = np.zeros((4, 50)), 45
    batch = np.zeros((4, 8))
    batch[:] = table[:, first : first + 8]


@pytest.mark.parametrize(
    ("program", "low", "high", "size"), [(a_chunk, 76, 97, 96), (stacked, 73, 97, 96), (columns, 45, 53, 50)]
)
def test_the_slice_is_found(program, low, high, size):
    found = seen(program)
    assert found is not None and (found.low, found.high, found.size) == (low, high, size)


def test_the_line_of_the_start_is_named():
    found = seen(a_chunk)
    assert found is not None and found.start is not None and found.start.code == "start = len(TEXT) - 20"


def test_the_line_of_what_a_loop_goes_through_is_named():
    found = seen(stacked)
    assert found is not None and found.start is not None and found.start.code.startswith("begins = ")


def whole_windows():
    a, start = torch.zeros(20), 10
    part = SERIES[start : start + 19]
    a[:] = part


def a_limit():
    limited = SERIES[:100]
    return limited + torch.zeros(92)


def another_difference():
    start = 90
    part = SERIES[start : start + 8]
    return part + torch.zeros(11)


def another_error():
    start = 90
    part = SERIES[start : start + 8]
    return part.view(4, 4)


@pytest.mark.parametrize("program", [whole_windows, a_limit, another_difference, another_error])
def test_what_explains_nothing_is_left_out(program):
    assert seen(program) is None
