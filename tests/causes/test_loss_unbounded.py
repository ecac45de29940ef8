"""The loss has no least value."""

from __future__ import annotations

from debugtracer.causes.loss_unbounded import LossUnbounded
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/loss-unbounded")
    evidence = hears("loss-unbounded", finding)
    assert evidence.leading == finding
    assert evidence.remedies == finding.remedy
    assert LossUnbounded.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("loss-unbounded", told("data/loader-bound"), told("optimizer/loss-plateau"))
