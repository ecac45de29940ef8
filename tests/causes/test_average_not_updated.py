"""An average of the weights is computed and never written."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_unmoved import CopyUnmoved
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/copy-unmoved")
    evidence = hears("average-not-updated", finding)
    assert evidence.leading == finding
    assert evidence.remedies == CopyUnmoved.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("average-not-updated", told("data/loader-bound"), told("optimizer/validation-gap"))
