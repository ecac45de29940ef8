"""The updates climb the loss."""

from __future__ import annotations

from debugtracer.causes.update_reversed import UpdateReversed
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/loss-climbed")
    evidence = hears("update-reversed", finding)
    assert evidence.leading == finding
    assert evidence.remedies == finding.remedy
    assert UpdateReversed.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("update-reversed", told("data/loader-bound"), told("optimizer/loss-plateau"))
