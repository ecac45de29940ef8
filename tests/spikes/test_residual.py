"""Residuals of a series against its own line."""

from __future__ import annotations

import math
import random

import pytest

from debugtracer.spikes.residual import FLOOR, LEAST, Residuals, from_x, line, median_deviation, middle, to_x


def test_the_median_of_odd_and_even_counts():
    assert middle([1.0, 2.0, 9.0]) == 2.0
    assert middle([1.0, 2.0, 4.0, 9.0]) == 3.0


@pytest.mark.parametrize("count", [1, 2, 3, 32, 63, 64])
def test_the_median_deviation_is_that_of_all_distances_to_the_bit(count: int):
    draws = random.Random(count)
    for _ in range(300):
        ordered = sorted(draws.choice([draws.gauss(0, 1), 0.5, draws.expovariate(1) ** 3]) for _ in range(count))
        for center in (middle(ordered), draws.gauss(0, 2)):
            assert median_deviation(ordered, center) == middle(sorted(abs(v - center) for v in ordered))


def test_the_line_ignores_outliers():
    values = [0.5 * i for i in range(63)]
    values[10], values[50] = 1e6, -1e6
    slope, intercept, rest = line(values)
    assert slope == pytest.approx(0.5, abs=0.02)
    assert intercept == pytest.approx(0.0, abs=0.5)
    assert sum(abs(r) < 0.5 for r in rest) == 61


def test_the_scale_and_back():
    for value, unit in ((3.0, 0.0), (-2.5, 0.7), (0.0, 0.7)):
        assert from_x(to_x(value, unit), unit) == pytest.approx(value)


def test_nothing_is_said_of_the_first_values():
    residuals = Residuals()
    assert [residuals.push(1.0) for _ in range(LEAST)] == [None] * LEAST
    assert residuals.push(1.0) is not None


def test_a_geometric_decay_has_no_residual():
    residuals = Residuals()
    readings = [residuals.push(2.0 * 0.97**step) for step in range(100)]
    assert max(abs(r.z) for r in readings if r is not None) < 1e-6


def test_the_current_value_does_not_move_its_own_prediction():
    chance = random.Random(1)
    past = [2.0 + chance.gauss(0, 0.1) for _ in range(64)]
    a, b = Residuals(), Residuals()
    for value in past:
        a.push(value), b.push(value)
    low, high = a.push(2.0), b.push(200.0)
    assert low is not None and high is not None
    assert (low.prediction, low.mad) == (high.prediction, high.mad)
    assert high.z > 50 > low.z


def test_a_constant_series_has_a_floor():
    residuals = Residuals()
    for _ in range(64):
        residuals.push(1.0)
    reading = residuals.push(1.05)
    assert reading is not None
    assert reading.mad == FLOOR
    assert reading.z == pytest.approx(math.log(1.05) / FLOOR)


def test_negative_values_switch_to_asinh_and_back():
    chance = random.Random(2)
    residuals = Residuals()
    for _ in range(64):
        residuals.push(chance.gauss(-1.0, 0.2))
    reading = residuals.push(3.0)
    assert reading is not None
    assert reading.unit > 0
    assert reading.z > 6
    for _ in range(66):
        residuals.push(chance.uniform(1.0, 1.2))
    reading = residuals.push(1.1)
    assert reading is not None
    assert reading.unit == 0.0


def test_exact_zeros_are_no_infinity():
    residuals = Residuals()
    for step in range(200):
        reading = residuals.push(0.0 if step % 3 else 0.2)
        assert reading is None or math.isfinite(reading.z)
