"""A run of hard or unusual samples makes the loss jump."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_hard_samples():
    finding = told("data/hard-samples")
    evidence = hears("data-hard-samples", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at these samples, a")


def test_what_else_was_seen_counts():
    finding = guess(told("data/hard-samples"))
    alone = hears("data-hard-samples", finding).confidence
    assert hears("data-hard-samples", finding, told("data/scale-drift")).confidence == alone  # the same family
    against = told("optimizer/lr-jump")
    assert hears("data-hard-samples", finding, against).confidence < alone
    assert hears("data-hard-samples", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-hard-samples", told("data/loader-bound"), told("data/scale-drift"))
