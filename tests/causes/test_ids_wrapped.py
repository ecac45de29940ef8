"""Ids lost their high bits where they were stored."""

from __future__ import annotations

from debugtracer.checks.data.ids_wrapped import IdsWrapped
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/ids-wrapped")
    evidence = hears("ids-wrapped", finding)
    assert evidence.leading == finding
    assert evidence.remedies == IdsWrapped.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ids-wrapped", told("data/loader-bound"), told("optimizer/validation-gap"))
