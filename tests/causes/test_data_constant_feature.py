"""A feature stands still that always varied."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_constant_feature():
    finding = told("data/constant-feature")
    evidence = hears("data-constant-feature", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("find the file or the tim")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-constant-feature", told("data/loader-bound"))
