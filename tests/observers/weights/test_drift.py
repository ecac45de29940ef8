"""The way of one number."""

from __future__ import annotations

import pytest

from debugtracer.observers.weights.drift import Drift, furthest


def test_a_number_that_goes_on_and_on():
    drift = Drift([0.0, -5.0, -10.0, -15.0, -20.0], [1.4, 1.1, 1.0, 1.0, 1.0])
    assert drift.goes_on()
    assert drift.kept() == 1.0
    assert drift.explained() == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("values", "gradients"),
    [
        ([0.0, -2.0, -4.0, -6.0], [1.0] * 4),  # not far
        ([0.0, -9.0, -8.0, -20.0], [1.0] * 4),  # to and fro
        ([0.0, -9.0, -15.0, -20.0], [1.0, 0.9, 0.5, 0.2]),  # it comes to rest
        ([0.0, -9.0, -15.0, -20.0], [-1.0] * 4),  # up its gradient
        ([0.0, -9.0, -15.0, -20.0], [0.0] * 4),
        ([0.0, -9.0, -15.0, float("nan")], [1.0] * 4),
    ],
)
def test_what_comes_to_rest_or_is_moved_by_something_else(values, gradients):
    assert not Drift(values, gradients).goes_on()


def test_the_one_that_went_furthest():
    near, far = Drift([0.0, 20.0], [-1.0, -1.0]), Drift([0.0, -30.0], [1.0, 1.0])
    assert furthest([near, far]) is far
