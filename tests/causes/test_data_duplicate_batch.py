"""The same batch comes again and again."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_duplicate_batch():
    finding = told("data/duplicate-batch")
    evidence = hears("data-duplicate-batch", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("share the stream out ove")


def test_what_else_was_seen_counts():
    finding = guess(told("data/duplicate-batch"))
    alone = hears("data-duplicate-batch", finding).confidence
    assert hears("data-duplicate-batch", finding, told("optimizer/loss-too-good")).confidence > alone
    assert hears("data-duplicate-batch", finding, told("data/worker-rng")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-duplicate-batch", told("data/loader-bound"), told("optimizer/loss-too-good"))
