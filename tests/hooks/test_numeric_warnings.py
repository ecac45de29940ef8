"""Warnings of numpy, heard while they are shown."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from debugtracer.hooks.numeric_warnings import MOST, NumericWarningsHook


@pytest.fixture
def heard():
    found: list = []
    hook = NumericWarningsHook(found)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        hook.install()
        yield found
        hook.remove()


def test_a_division_by_zero_names_its_line(heard):
    np.power(np.zeros(3), -1)
    (one,) = heard
    assert one.text.startswith("divide by zero")
    assert one.frames[0].file == __file__ and one.frames[0].code == "np.power(np.zeros(3), -1)"


def test_a_warning_inside_numpy_names_the_line_that_called_it(heard):
    np.zeros(0).mean()
    assert {one.frames[0].code for one in heard} == {"np.zeros(0).mean()"}


def test_other_warnings_are_let_pass(heard):
    with warnings.catch_warnings(record=True) as told:
        warnings.warn("a notice of the program", stacklevel=1)
        warnings.warn("divide by zero, a word of another kind", UserWarning, stacklevel=1)
    assert heard == []
    assert str(told[0].message) == "a notice of the program"


def test_what_is_shown_is_still_shown(heard):
    with warnings.catch_warnings(record=True) as told:
        np.log(np.zeros(1))
    assert [str(one.message) for one in told] == ["divide by zero encountered in log"] == [one.text for one in heard]


def test_a_warning_that_the_program_hides_is_not_heard(heard):
    with np.errstate(all="ignore"):
        np.log(np.zeros(1))
    warnings.simplefilter("ignore")
    np.log(np.zeros(1))
    assert heard == []


def test_no_more_than_some_are_kept(heard):
    for _ in range(MOST + 3):
        np.log(np.zeros(1))
    assert len(heard) == MOST


def test_removed_it_leaves_nothing_behind():
    before = warnings._showwarnmsg
    hook = NumericWarningsHook([])
    hook.install()
    assert warnings._showwarnmsg is not before
    hook.remove()
    assert warnings._showwarnmsg is before
