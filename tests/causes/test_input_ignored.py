"""Parts of the input do not reach the output."""

from __future__ import annotations

from debugtracer.checks.model.positions_ignored import PositionsIgnored
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/positions-ignored")
    evidence = hears("input-ignored", finding)
    assert evidence.leading == finding
    assert evidence.remedies == PositionsIgnored.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("input-ignored", told("data/loader-bound"), told("model/input-ignored"))
