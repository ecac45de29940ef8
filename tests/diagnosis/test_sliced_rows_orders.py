"""What is an order of rows, and which rows of a part of it are named."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.diagnosis import sliced_rows as module
from debugtracer.diagnosis.sliced_rows import each_once, numbers, running, sliced_rows
from debugtracer.replay.pure_expression import Impure


@pytest.fixture
def one_part(monkeypatch):
    """The only running function has cut this part."""
    monkeypatch.setattr(module, "running", lambda: ["frame"])
    monkeypatch.setattr(module, "cuts", lambda frame, size: [[7, 5, 9][:size]])


@pytest.mark.parametrize(
    ("rows", "size", "expected"),
    [
        ((0, 2), 3, (7, 9)),
        ((1,), 2, (5,)),
        ((0,), None, None),
        ((0,), 0, None),
        ((0,), 1, None),
        ((), 3, None),
        ((3,), 3, None),
        ((-1,), 3, None),
    ],
)
def test_rows_of_a_batch_of_two_or_more_are_named(one_part, rows, size, expected):
    assert sliced_rows(rows, size) == expected


@pytest.mark.parametrize(
    ("parts", "expected"), [([[1, 2]], (1,)), ([[1, 2], [1, 2]], (1,)), ([[1, 2], [2, 1]], None), ([], None)]
)
def test_all_functions_must_have_cut_the_same_part(monkeypatch, parts, expected):
    monkeypatch.setattr(module, "running", lambda: ["a", "b"])
    monkeypatch.setattr(module, "cuts", lambda frame, size: parts)
    assert sliced_rows((0,), 2) == expected


@pytest.mark.parametrize(
    "order",
    [range(3), [0, 1, 2], torch.arange(3), np.arange(3), torch.arange(3, dtype=torch.uint8), np.arange(3, dtype="u1")],
)
def test_whole_numbers_in_a_row_are_an_order(order):
    assert numbers(order) == [0, 1, 2]


@pytest.mark.parametrize(
    "order",
    [
        [0.0, 1.0],
        [True, False],
        torch.tensor([0.0, 1.0]),
        torch.tensor([0j]),
        torch.zeros(2, 2, dtype=torch.int64),
        np.array([0.0, 1.0]),
        np.zeros((2, 2), dtype=int),
        "order",
        None,
    ],
)
def test_anything_else_is_none(order):
    with pytest.raises(Impure):
        numbers(order)


def test_an_order_that_is_too_long_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    assert numbers(np.arange(3)) == [0, 1, 2]
    with pytest.raises(Impure):
        numbers(np.arange(4))


@pytest.mark.parametrize(
    ("order", "expected"), [([2, 0, 1], True), ([0], True), ([], False), ([0, 0], False), ([-1, 0], False)]
)
def test_a_row_stands_once_in_an_order(order, expected):
    assert each_once(order) is expected


def waiting():
    yield 1
    yield 2


def test_a_generator_of_the_program_that_waits_is_running():
    one, over = waiting(), waiting()
    next(one)
    assert list(over) == [1, 2]
    frames = list(running())
    assert one.gi_frame in frames and None not in frames
