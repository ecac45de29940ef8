"""A running average keeps hardly anything but its last value."""

from __future__ import annotations

from debugtracer.checks.model.statistics_leap import StatisticsLeap
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/statistics-leap")
    evidence = hears("average-forgets", finding)
    assert evidence.leading == finding
    assert evidence.remedies == StatisticsLeap.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("average-forgets", told("data/loader-bound"), told("optimizer/validation-gap"))
