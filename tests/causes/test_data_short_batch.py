"""A batch has far fewer rows than usual in the middle of an epoch."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_short_batch():
    finding = told("data/short-batch")
    evidence = hears("data-short-batch", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at what collate_fn ")


def test_what_else_was_seen_counts():
    finding = guess(told("data/short-batch"))
    alone = hears("data-short-batch", finding).confidence
    assert hears("data-short-batch", finding, told("optimizer/loss-spike")).confidence > alone
    assert hears("data-short-batch", finding, told("data/dropped-rows")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-short-batch", told("data/loader-bound"), told("data/dropped-rows"))
