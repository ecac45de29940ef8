"""A record that a line of the program cannot take."""

from __future__ import annotations

from tests.causes.listening import hears, is_silent, told


def test_hears_crash_values_of_a_known_record():
    finding = told("numerics/crash-values", kind="record_unreadable")
    evidence = hears("record-unreadable", finding)
    assert evidence.leading == finding
    assert evidence.remedies[0].startswith("mend the record")


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("record-unreadable", told("data/ragged-samples"), told("data/shape-drift"))
