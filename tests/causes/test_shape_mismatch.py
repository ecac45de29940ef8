"""Shapes do not fit."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_shape_mismatch():
    finding = told("model/shape-mismatch")
    evidence = hears("shape-mismatch", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("build the module for the")


def test_what_else_was_seen_counts():
    finding = guess(told("model/shape-mismatch"))
    alone = hears("shape-mismatch", finding).confidence
    assert hears("shape-mismatch", finding, told("data/shape-drift")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("shape-mismatch", told("data/loader-bound"), told("data/shape-drift"))
