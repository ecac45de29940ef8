"""Ranks train on the same samples."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_rank_overlap():
    finding = told("device/rank-overlap")
    evidence = hears("ddp-duplicate-data", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("sampler = DistributedSam")


def test_what_else_was_seen_counts():
    finding = guess(told("device/rank-overlap"))
    alone = hears("ddp-duplicate-data", finding).confidence
    assert hears("ddp-duplicate-data", finding, told("device/rank-skew")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ddp-duplicate-data", told("data/loader-bound"), told("device/rank-skew"))
