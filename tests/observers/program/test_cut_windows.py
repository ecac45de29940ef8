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


class Places(torch.nn.Module):
    """Adds a table of positions, as long as it is."""

    def __init__(self, add):
        super().__init__()
        self.register_buffer("fixed", torch.zeros(1, 30, 4))
        self.learned = torch.nn.Parameter(torch.zeros(30, 4))
        self.plain = torch.zeros(1, 30, 4)
        self.add = add

    def forward(self, x):
        return self.add(self, x)


def fixed(self, x):
    return x + self.fixed[:, : x.size(1)]


def learned(self, x):
    return x + self.learned[: x.shape[-2]]


def counted(self, x):
    length = x.shape[1]
    return x + self.fixed[:, 0:length].clone()


@pytest.mark.parametrize("add", [fixed, learned, counted])
def test_a_table_that_is_too_short(add):
    found = seen(lambda: Places(add)(torch.zeros(2, 37, 4)))
    assert found is not None and (found.low, found.high, found.size) == (0, 37, 30)
    assert found.table == (add is not counted)
    assert found.frame.code.startswith("return x + self.")


def plain(self, x):
    return x + self.plain[:, : x.size(1)]


def other_width(self, x):
    return x[..., :3] + self.fixed[:, : x.size(1)]


@pytest.mark.parametrize(("add", "length"), [(plain, 37), (other_width, 30), (other_width, 20)])
def test_a_limit_and_another_dimension_are_not_told(add, length):
    assert seen(lambda: Places(add)(torch.zeros(2, length, 4))) is None


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


LONGEST = 6


def padded():
    row, ids = torch.zeros(LONGEST + 1), torch.arange(9.0)
    row[: len(ids)] = ids


def behind_a_start():
    names = np.arange(9)
    rows = np.zeros((2, LONGEST))
    rows[1, 1 : 1 + len(names)] = names


@pytest.mark.parametrize(("program", "low", "high", "size"), [(padded, 0, 9, 7), (behind_a_start, 1, 10, 6)])
def test_what_is_written_into_a_buffer_that_is_too_short(program, low, high, size):
    found = seen(program)
    assert found is not None and (found.low, found.high, found.size) == (low, high, size)
    assert found.stored and not found.table
    assert found.room is not None and found.room.code == "LONGEST = 6"


def test_what_is_only_read_has_no_room():
    found = seen(stacked)
    assert found is not None and not found.stored and found.room is None
