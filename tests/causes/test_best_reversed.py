"""The worst model is kept as the best."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_best_direction():
    finding = told("rollback/best-direction")
    evidence = hears("best-reversed", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith('mode="max"')


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("best-reversed", told("optimizer/lr-zero"), told("data/loader-bound"))
