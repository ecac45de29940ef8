"""A curve keeps the shape of any number of values in bounded memory."""

from __future__ import annotations

import math

from debugtracer.logs.curve import MOST, TAIL, Curve, Point


def test_a_long_curve_is_thinned_and_its_ends_stay():
    curve = Curve()
    for line in range(100_000):
        curve.add(Point(line, None, float(line)))
    assert curve.count == 100_000
    assert len(curve.kept) <= MOST + 1
    assert (curve.low, curve.high, curve.kept[0].value) == (0.0, 99_999.0, 0.0)
    assert curve.last is not None and curve.last.value == 99_999.0


def test_the_values_before_the_first_bad_one_are_kept():
    curve = Curve()
    for value in [*range(200), math.nan, 5.0, math.inf]:
        curve.add(Point(0, None, float(value)))
    assert curve.first_bad is not None and math.isnan(curve.first_bad.value)
    assert [point.value for point in curve.before_bad] == [float(v) for v in range(200 - TAIL, 200)]
    assert (curve.bad, curve.finite_after_bad) == (2, 1)
