"""The loader cannot put the samples of a batch together."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_ragged_samples():
    finding = told("data/ragged-samples")
    evidence = hears("ragged-samples", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("bring the odd samples to")


def test_what_else_was_seen_counts():
    finding = guess(told("data/ragged-samples"))
    alone = hears("ragged-samples", finding).confidence
    assert hears("ragged-samples", finding, told("data/shape-drift")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("ragged-samples", told("data/loader-bound"), told("data/shape-drift"))
