"""The target has nothing to do with the input."""

from __future__ import annotations

from debugtracer.checks.data.target_drawn import TargetDrawn
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/target-drawn")
    evidence = hears("target-unrelated", finding)
    assert evidence.leading == finding
    assert evidence.remedies == TargetDrawn.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("target-unrelated", told("data/loader-bound"), told("optimizer/loss-plateau"))
