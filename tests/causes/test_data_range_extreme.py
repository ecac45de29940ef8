"""A value lies far beyond all before."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_range_extreme():
    finding = told("data/range-extreme")
    evidence = hears("data-range-extreme", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the sample and r")


def test_what_else_was_seen_counts():
    finding = guess(told("data/range-extreme"))
    alone = hears("data-range-extreme", finding).confidence
    assert hears("data-range-extreme", finding, told("optimizer/loss-spike")).confidence > alone
    assert hears("data-range-extreme", finding, told("data/outlier-sample")).confidence == alone  # the same family
    against = told("optimizer/lr-jump")
    assert hears("data-range-extreme", finding, against).confidence < alone
    assert hears("data-range-extreme", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-range-extreme", told("data/loader-bound"), told("optimizer/loss-spike"))
