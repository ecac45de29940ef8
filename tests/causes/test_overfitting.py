"""The model learns its training set by heart."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_validation_gap():
    finding = told("optimizer/validation-gap")
    evidence = hears("overfitting", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("keep the weights of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/validation-gap"))
    alone = hears("overfitting", finding).confidence
    assert hears("overfitting", finding, told("data/repeated-ngram")).confidence > alone
    against = told("data/train-eval-overlap")
    assert hears("overfitting", finding, against).confidence < alone
    assert hears("overfitting", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("overfitting", told("data/loader-bound"), told("data/repeated-ngram"))
