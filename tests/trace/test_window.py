"""What a check may see."""

from __future__ import annotations

from math import inf, nan

from debugtracer.testing import a_window
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window, spoken


def test_a_value_that_was_not_measured_here_is_none():
    window = Window(ref=StepRef(iteration=3, step=3), series={"loss": (1.0, 2.0)})
    assert window.now("loss") is None
    assert window.now("grad_l2") is None
    assert window.before("loss") == (1.0, 2.0)


def test_before_holds_finite_values_only_and_not_the_one_at_hand():
    assert a_window(loss=(1.0, nan, 2.0, inf)).before("loss") == (1.0, 2.0)


def test_spoken_values_read_as_a_clause():
    assert spoken(()) == "there is no finite value before it"
    assert spoken((0.5,)) == "the one before was 0.5"
    assert spoken((9.0, 0.693, 0.688)) == "the last 3 were 9, 0.693, 0.688"


def test_the_finite_values_of_a_series_in_their_order_the_one_at_hand_too():
    window = a_window(loss=(2.0, nan, inf, 1.0))
    assert (window.finite("loss"), window.finite("none")) == ([2.0, 1.0], [])
