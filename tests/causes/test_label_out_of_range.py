"""A target is outside the class range."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_label_range():
    finding = told("data/label-range")
    evidence = hears("label-out-of-range", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("map the labels to 0..cla")


def test_what_else_was_seen_counts():
    finding = guess(told("data/label-range"))
    alone = hears("label-out-of-range", finding).confidence
    assert hears("label-out-of-range", finding, told("numerics/nan-loss")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("label-out-of-range", told("data/loader-bound"), told("numerics/nan-loss"))
