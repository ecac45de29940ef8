"""A metric is not of the data that it is told of."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_miscounted():
    finding = told("logging/miscounted")
    evidence = hears("metric-miscounted", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("set counts to 0")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("metric-miscounted", told("optimizer/lr-zero"), told("data/loader-bound"))
