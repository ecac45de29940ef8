"""An average of the weights stays near its first values."""

from __future__ import annotations

from debugtracer.checks.optimizer.average_lags import AverageLags
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/average-lags")
    evidence = hears("average-lags", finding)
    assert evidence.leading == finding
    assert evidence.remedies == AverageLags.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("average-lags", told("data/loader-bound"), told("optimizer/validation-gap"))
