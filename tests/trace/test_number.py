"""Facts about numbers that JSON cannot hold."""

import math

from debugtracer.trace.number import as_float, number


def test_a_finite_float_stays_one() -> None:
    assert number(1) == 1.0
    assert type(number(1)) is float


def test_the_others_travel_as_words_and_come_back() -> None:
    assert [number(x) for x in (math.nan, math.inf, -math.inf)] == ["NaN", "Infinity", "-Infinity"]
    assert math.isnan(as_float("NaN"))
    assert (as_float("Infinity"), as_float("-Infinity")) == (math.inf, -math.inf)
