"""When a number or a write of the loop is new: how many steps are known, how far it moved, how long it grew."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

from debugtracer.diagnosis.loop_changes import given, has_grown, is_sudden, loop_changes, numbers, written
from debugtracer.trace.birth import Frame
from debugtracer.trace.step import StepRef

LINE, OTHER = ("code", 3), ("code", 9)


def a_call(*args, name="mul", kind="fn", frames=(LINE,), **kwargs):
    return SimpleNamespace(kind=kind, function=SimpleNamespace(__name__=name), args=args, kwargs=kwargs, frames=frames)


def a_tape(number, *entries, rested=False, writes=()):
    return SimpleNamespace(
        number=number, first_step=number, first_iteration=number, rested=rested, entries=list(entries),
        own_writes=SimpleNamespace(all=lambda: list(writes)), losses=[],
    )  # fmt: skip


WEIGHT = torch.nn.Parameter(torch.ones(1))
CONTEXT = SimpleNamespace(
    roots=SimpleNamespace(named_parameters=lambda: {id(WEIGHT): "head.weight"}),
    frames=lambda lines: tuple(Frame("train.py", line) for _, line in lines),
)


def changes(before=8, rested=(), now_rested=False, step=8, calls=1):
    tapes = [a_tape(n, *[a_call("x", 1.0)] * calls, rested=n in rested) for n in range(before)]
    tapes.append(a_tape(before, a_call("x", 9.0), rested=now_rested))
    return loop_changes(before if step == 8 else step, tapes, CONTEXT, 0)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({}, True),
        ({"before": 7}, False),
        ({"before": 9, "rested": (3,)}, True),
        ({"rested": (3,)}, False),
        ({"now_rested": True}, False),
        ({"step": 77}, False),
        ({"before": 8, "calls": 2499}, True),
        ({"before": 8, "calls": 2500}, False),
        ({"before": 9, "calls": 2222}, True),
    ],
)
def test_eight_steps_before_must_be_known_and_cheap_to_read(told, known):
    assert bool(changes(**told)) is known


def test_twenty_thousand_calls_are_read():
    tapes = [a_tape(n, *[a_call("x", 1.0)] * 2499) for n in range(8)]
    now = a_tape(8, *[a_call("x", 9.0)] * 8)
    assert loop_changes(8, [*tapes, now], CONTEXT, 0)
    now.entries.append(a_call("x", 9.0))
    assert not loop_changes(8, [*tapes, now], CONTEXT, 0)


def test_a_change_tells_the_number_before_and_after():
    (change,) = changes()
    assert (change.before, change.after, change.sudden, change.steps, change.frame.line) == (1.0, 9.0, True, 8, 3)


@pytest.mark.parametrize(
    ("value", "series", "expected"),
    [
        (1.25, (1.0, 1.0), False),
        (1.26, (1.0, 1.0), True),
        (0.74, (1.0, 1.0), True),
        (2.0, (0.75, 1.0), False),
        (2.01, (0.75, 1.0), True),
        (0.1, (0.0, 0.0), True),
        (0.0, (0.0, 0.0), False),
        (-1.0, (1.0, -1.0), False),
    ],
)
def test_a_number_leaves_at_once_by_a_quarter_and_four_times_its_largest_move(value, series, expected):
    assert is_sudden(value, series) is expected


@pytest.mark.parametrize(
    ("series", "value", "expected"),
    [
        ((1.0,) * 9 + tuple(1.0 + n / 10 for n in range(1, 8)), 2.0, True),
        ((1.0,) * 10 + tuple(1.0 + n / 10 for n in range(1, 7)), 2.0, False),
        ((1.0,) * 9 + tuple(1.0 + n / 100 for n in range(1, 8)), 1.25, False),
        ((1.0,) * 9 + tuple(1.0 + n / 100 for n in range(1, 8)), 1.26, True),
        ((-1.0,) * 9 + tuple(-1.0 - n / 10 for n in range(1, 8)), -2.0, True),
        ((0.0,) * 9 + tuple(n / 10 for n in range(1, 8)), 2.0, False),
    ],
)
def test_a_number_grows_through_eight_steps_and_by_a_quarter(series, value, expected):
    assert has_grown(value, series) is expected


def test_the_first_number_of_each_place_of_a_call_counts():
    tape = a_tape(
        0, a_call("x", 2.0), a_call("x", 3.0), a_call("x", 4.0, frames=(OTHER,)), a_call("x", 5.0, name="add")
    )
    assert numbers(tape) == {(LINE, "mul", 1): 2.0, (OTHER, "mul", 1): 4.0, (LINE, "add", 1): 5.0}
    assert numbers(a_tape(0, a_call("x", 2.0, kind="module"), a_call("x", 2.0, frames=()))) == {}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (a_call("x", 2, name="mul"), [(1, 2.0)]),
        (a_call("x", 2, name="__rmul__"), [(1, 2.0)]),
        (a_call("x", 2, name="reshape"), []),
        (a_call("x", 2.5, name="reshape"), [(1, 2.5)]),
        (a_call("x", math.inf), []),
        (a_call("x", True), []),
        (a_call("x", 0, 3.0, name="__setitem__"), [(2, 3.0)]),
        (a_call("x", alpha=0.5), [("alpha", 0.5)]),
    ],
)
def test_sizes_and_places_are_no_numbers(call, expected):
    assert list(given(call, call.function.__name__)) == expected


def a_write(*lines, function="mul_"):
    return SimpleNamespace(frames=lines, function=function)


@pytest.mark.parametrize(
    ("tensor", "write", "expected"),
    [
        (WEIGHT, a_write(OTHER), [("mul_", 9)]),
        (WEIGHT, a_write(OTHER, function="__set__"), [("data = ...", 9)]),
        (WEIGHT, a_write(LINE, OTHER), [("mul_", 9)]),
        (WEIGHT, a_write(LINE), []),
        (WEIGHT, a_write(), []),
        (WEIGHT, SimpleNamespace(frames=None, function="mul_"), []),
        (torch.ones(1), a_write(OTHER), []),
    ],
)
def test_a_write_into_a_weight_is_new_where_no_call_before_came_through_its_line(tensor, write, expected):
    before = [a_tape(0, a_call("x"), a_call("x", frames=None), writes=[(WEIGHT, SimpleNamespace(frames=None))])]
    found = list(written(StepRef(iteration=1, step=1), a_tape(1, writes=[(tensor, write)]), before, CONTEXT))
    assert [(one.function, one.frame.line) for one in found] == expected
    assert all(one.params == ("head.weight",) for one in found)
