"""A sample holds one single value."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_blank_sample():
    finding = told("data/blank-sample")
    evidence = hears("data-blank-sample", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the file of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("data/blank-sample"))
    alone = hears("data-blank-sample", finding).confidence
    assert hears("data-blank-sample", finding, told("data/constant-feature")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-blank-sample", told("data/loader-bound"), told("data/constant-feature"))
