"""What a line computed is thrown away."""

from __future__ import annotations

from debugtracer.causes.result_discarded import ResultDiscarded
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/result-discarded")
    evidence = hears("result-discarded", finding)
    assert evidence.leading == finding
    assert evidence.remedies == finding.remedy
    assert ResultDiscarded.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("result-discarded", told("data/loader-bound"), told("optimizer/loss-plateau"))
