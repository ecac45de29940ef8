"""Fields that should have rows of their own share those of one table."""

from __future__ import annotations

from debugtracer.checks.model.fields_share_rows import FieldsShareRows
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("model/fields-share-rows")
    evidence = hears("fields-share-rows", finding)
    assert evidence.leading == finding
    assert evidence.remedies == FieldsShareRows.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("fields-share-rows", told("data/loader-bound"), told("optimizer/validation-gap"))
