"""From an op to the line that computed its number."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from debugtracer.callsites.frames import as_frame
from debugtracer.diagnosis.number_lines import finite, number_lines


def here(offset: int):
    """The line so many above the call, and the frame of the caller."""
    live = sys._getframe(1)
    return (as_frame(live.f_code, live.f_lineno + offset),), live


def test_a_name_is_followed_to_the_line_that_wrote_it():
    total = 5
    weight = math.inf * total
    loss = 0.1 * weight + total
    (line,) = number_lines(*here(-1))
    assert (line.code, loss) == ("weight = math.inf * total", math.inf)


NEGATIVE = -float("inf")


class Annealed:
    def __init__(self):
        self.beta = 1.0

    def anneal(self, left):
        self.beta = np.float32(left) / 0

    def loss(self):
        loss = 0.1 * self.beta
        return number_lines(*here(-1)), loss


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_an_attribute_is_followed_to_its_writer():
    annealed = Annealed()
    annealed.anneal(3)
    lines, loss = annealed.loss()
    assert [line.code for line in lines] == ["self.beta = np.float32(left) / 0"]
    assert not finite(loss)


def test_where_two_are_bad_none_is_named():
    one = math.nan
    other = math.inf
    loss = one * other
    assert number_lines(*here(-1)) == ()
    assert not finite(loss)


def test_of_a_function_that_has_returned_and_without_a_line_nothing_is_known():
    weight = math.nan
    loss = 2 * weight
    frames, live = here(-1)
    assert number_lines(frames, live) != ()
    assert number_lines(frames, None) == ()
    assert number_lines((), live) == ()
    assert not finite(loss)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (1.0, True),
        (3, True),
        ("nan", True),
        (None, True),
        (math.nan, False),
        (-math.inf, False),
        (np.float64("nan"), False),
        (np.float32("inf"), False),
        (np.float32(2), True),
        (np.array([math.nan]), True),
    ],
)
def test_what_is_a_finite_number(value, word):
    assert finite(value) is word


def test_of_a_function_that_has_returned_a_constant_is_known_all_the_same():
    masked = 2 * NEGATIVE
    frames, _ = here(-1)
    (line,) = number_lines(frames, None)
    assert line.code == 'NEGATIVE = -float("inf")'
    assert not finite(masked)
