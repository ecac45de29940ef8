"""A view reads along another dimension."""

from __future__ import annotations

from debugtracer.causes.axes_mixed import AxesMixed
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/axes-mixed")
    evidence = hears("axes-mixed", finding)
    assert evidence.leading == finding
    assert evidence.remedies == finding.remedy
    assert AxesMixed.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("axes-mixed", told("data/loader-bound"), told("optimizer/loss-plateau"))
