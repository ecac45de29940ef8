"""A value that the program gave itself and that a line of it cannot take."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_crash_values_of_a_value_of_the_program():
    finding = told("numerics/crash-values", kind="value_unfit")
    assert hears("value-unfit", finding).leading == finding


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("value-unfit", told("numerics/crash-values", kind="record_unreadable"))
