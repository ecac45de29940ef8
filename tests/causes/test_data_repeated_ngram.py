"""A row of tokens repeats one n-gram."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_repeated_ngram():
    finding = told("data/repeated-ngram")
    evidence = hears("data-repeated-ngram", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("filter repeated n-grams ")


def test_what_else_was_seen_counts():
    finding = guess(told("data/repeated-ngram"))
    alone = hears("data-repeated-ngram", finding).confidence
    assert hears("data-repeated-ngram", finding, told("optimizer/embedding-gradient")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-repeated-ngram", told("data/loader-bound"), told("optimizer/embedding-gradient"))
