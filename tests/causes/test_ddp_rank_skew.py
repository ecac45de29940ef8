"""One rank has other data or another speed than the rest."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_rank_skew():
    finding = told("device/rank-skew")
    evidence = hears("ddp-rank-skew", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("shuffle before the data ")


def test_what_else_was_seen_counts():
    finding = guess(told("device/rank-skew"))
    alone = hears("ddp-rank-skew", finding).confidence
    assert hears("ddp-rank-skew", finding, told("data/class-skew")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ddp-rank-skew", told("data/loader-bound"), told("data/class-skew"))
