"""Each step takes the first batch of a new pass."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_restarted_pass():
    finding = told("data/restarted-pass")
    evidence = hears("data-restarted-pass", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("make the iterator once, ")


def test_what_else_was_seen_counts():
    finding = guess(told("data/restarted-pass"))
    alone = hears("data-restarted-pass", finding).confidence
    assert hears("data-restarted-pass", finding, told("optimizer/loss-too-good")).confidence > alone
    assert hears("data-restarted-pass", finding, told("data/duplicate-batch")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-restarted-pass", told("data/loader-bound"), told("optimizer/loss-too-good"))
