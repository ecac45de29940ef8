"""Rows of the data can never be drawn."""

from __future__ import annotations

from debugtracer.checks.data.rows_left_out import RowsLeftOut
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/rows-left-out")
    evidence = hears("data-rows-left-out", finding)
    assert evidence.leading == finding
    assert evidence.remedies == RowsLeftOut.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-rows-left-out", told("data/loader-bound"), told("data/class-skew"))
