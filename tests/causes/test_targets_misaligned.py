"""Inputs and targets that do not belong together."""

from __future__ import annotations

from debugtracer.checks.data.rows_misaligned import RowsMisaligned
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/rows-misaligned")
    evidence = hears("targets-misaligned", finding)
    assert evidence.leading == finding
    assert evidence.remedies == RowsMisaligned.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("targets-misaligned", told("data/loader-bound"), told("optimizer/loss-plateau"))
