"""Which numbers are taken for an epsilon, and where among the arguments they may stand."""

from __future__ import annotations

import math

import pytest

from debugtracer.interventions.raised_eps import Raised
from debugtracer.trace.birth import Frame

# the limits as they are promised
LARGEST = 1e-3

FRAME = Frame("/home/someone/project/model.py", 9, "forward")


def raised(name, args, kwargs=None, *, inside=True, place=FRAME, eps=1e-4):
    """What a function of that name is called with, and what is told of it."""

    def called(*given, **named):
        return given, named

    called.__name__ = name
    mode = Raised(FRAME, eps)
    mode.in_function = lambda: inside
    mode.place = lambda depth: place
    given, named = mode.__torch_function__(called, (), args, kwargs)
    return given, named, mode.words()


def test_a_small_number_is_raised_where_it_is_added_or_a_floor():
    for name in ("add", "__add__", "__iadd__", "clamp_min", "clamp"):
        assert raised(name, ("x", 1e-8))[0] == ("x", 1e-4), name
    for name in ("mul", "sub", "div"):
        assert raised(name, ("x", 1e-8))[0] == ("x", 1e-8), name


@pytest.mark.parametrize(
    ("name", "place"),
    [("layer_norm", 4), ("rms_norm", 3), ("batch_norm", 7), ("group_norm", 4), ("instance_norm", 7), ("normalize", 3),
     ("cosine_similarity", 3)],
)  # fmt: skip
@pytest.mark.parametrize("value", [1e-8, 0.0])
def test_an_epsilon_has_its_place_among_the_arguments_of_a_norm(name, place, value):
    args = [value] * 9
    found = raised(name, tuple(args))[0]
    assert [n for n, one in enumerate(found) if one == 1e-4] == [place]


def test_a_named_argument_is_raised_where_it_is_an_epsilon_or_the_least_value():
    assert raised("layer_norm", ("x",), {"eps": 0.0, "min": 1e-8})[1] == {"eps": 1e-4, "min": 1e-8}
    assert raised("clamp", ("x",), {"min": 1e-8, "max": 1e-8})[1] == {"min": 1e-4, "max": 1e-8}
    assert raised("clamp", ("x",), {"min": 0.0})[1] == {"min": 0.0}
    assert raised("mul", ("x",), {"min": 1e-8, "other": 1e-8})[1] == {"min": 1e-8, "other": 1e-8}


def test_only_in_the_guilty_function():
    assert raised("add", ("x", 1e-8), {"eps": 1e-8}, inside=False) == (("x", 1e-8), {"eps": 1e-8}, [])
    assert raised("add", ("x", 1.0))[2] == []


def test_each_is_told_once_with_its_line():
    assert raised("add", ("x", 1e-8), {"eps": 1e-9})[2] == [
        "eps 1e-08 at model.py:9",
        "eps 1e-09 at model.py:9",
    ]
    assert raised("add", (1e-8, 1e-8), place=None)[2] == ["eps 1e-08 at model.py:0"]


@pytest.mark.parametrize(
    ("value", "named", "expected"),
    [
        (1e-8, False, True),
        (1e-4, False, False),
        (math.nextafter(1e-4, 0), False, True),
        (0.0, True, True),
        (0.0, False, False),
        (-1e-8, True, False),
        (math.nan, True, False),
        (-math.inf, True, False),
        (0, True, False),
        (None, True, False),
    ],
)
def test_a_small_positive_float_is_an_epsilon_and_zero_one_that_is_called_so(value, named, expected):
    assert Raised(FRAME, 1e-4).small(value, named) is expected


def test_a_number_that_is_no_epsilon_at_all_stays_however_large_the_one_wanted():
    assert Raised(FRAME, 10.0).small(LARGEST, False) is True
    assert Raised(FRAME, 10.0).small(math.nextafter(LARGEST, 1), False) is False
