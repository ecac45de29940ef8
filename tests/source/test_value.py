"""Arithmetic of what is known."""

from __future__ import annotations

import math

import torch

from debugtracer.source.value import (
    TENSOR,
    UNKNOWN,
    Point,
    Value,
    clamped,
    f32,
    joined,
    negated,
    number,
    over,
    plus,
    powered,
    squared,
    times,
)  # fmt: skip

P = Value(True, 0.0, 1.0, (Point(0.0, "low"), Point(1.0, "high")))
FREE = Value(True, free="any")


def test_float32_rounds_as_torch_does():
    for value in (1 - 1e-8, 1 - 1e-7, 1e-46, 1 / 3, 65504.0):
        assert f32(value) == float(torch.tensor(value, dtype=torch.float32))
    assert f32(1e39) == math.inf


def test_a_constant_moves_the_points():
    shifted = plus(negated(P), number(1.0))
    assert sorted(p.at for p in shifted.points) == [0.0, 1.0] and (shifted.low, shifted.high) == (0.0, 1.0)
    assert plus(P, number(1e-8)).at_most(0.0) is None
    assert plus(negated(P), number(1 + 1e-8)).exactly(0.0) is not None  # 1 + 1e-8 is 1 in float32
    assert times(P, number(-2.0)).low == -2.0 and times(P, number(0.0)).points == ()
    assert over(P, number(4.0)).high == 0.25


def test_an_unknown_term_may_be_any_guard():
    assert plus(P, UNKNOWN).points == () and times(P, UNKNOWN).points == () and clamped(P, UNKNOWN, None).points == ()


def test_squares_and_powers():
    assert squared(Value(True, -1.0, 1.0, (Point(-1.0, "a"),))).exactly(1.0) is not None
    assert squared(TENSOR).form == "squares" and squared(TENSOR).low == 0.0
    assert powered(P, 2.0).form == "squares" and powered(P, 1.0) is P
    assert powered(P, 0.5).exactly(1.0) is not None and powered(FREE, -1.0).low == -math.inf
    total = plus(squared(TENSOR), squared(TENSOR))
    assert total.form == "sum_of_squares" and total.exactly(0.0) is not None


def test_a_clamp_lets_its_bounds_through_as_float32_has_them():
    assert clamped(UNKNOWN, number(0.0), number(1.0)).exactly(0.0) is not None
    assert clamped(UNKNOWN, number(1e-8), number(1 - 1e-8)).exactly(1.0) is not None
    assert (
        clamped(P, number(0.5), None).at_most(0.4) is None and clamped(P, number(-3.0), None).exactly(0.0) is not None
    )
    assert clamped(FREE, number(0.1), None).free == ""


def test_a_join_keeps_what_all_paths_reach():
    safe = clamped(P, number(1e-6), None)
    assert joined([P, safe]).at_most(0.0) is None and joined([P, P]).at_most(0.0) is not None
    assert joined([P, FREE]).at_most(0.0) is not None and joined([FREE, P]).free == ""
    assert joined([]) is UNKNOWN and joined([P, number(3.0)]).tensor is None


def test_a_certain_point_comes_before_a_weak_one():
    value = Value(points=(Point(0.0, "weak", weak=True), Point(0.0, "sure")))
    assert value.exactly(0.0) == Point(0.0, "sure")
