"""Kept weights that are the trained ones."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_aliased import CopyAliased
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/copy-aliased")
    evidence = hears("copy-aliased", finding)
    assert evidence.leading == finding
    assert evidence.remedies == CopyAliased.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("copy-aliased", told("data/loader-bound"), told("optimizer/validation-gap"))
