"""Ranks execute different numbers of collectives."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_rank_skew():
    finding = told("device/rank-skew", "ddp_desync")
    evidence = hears("ddp-desync", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("shuffle before the data ")


def test_what_else_was_seen_counts():
    finding = guess(told("device/rank-skew", "ddp_desync"))
    alone = hears("ddp-desync", finding).confidence
    assert hears("ddp-desync", finding, told("data/dropped-rows")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ddp-desync", told("data/loader-bound"), told("data/dropped-rows"))
