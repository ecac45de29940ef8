"""A feature changes its scale while training runs."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_scale_drift():
    finding = told("data/scale-drift")
    evidence = hears("data-scale-drift", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("bring the new part of th")


def test_what_else_was_seen_counts():
    finding = guess(told("data/scale-drift"))
    alone = hears("data-scale-drift", finding).confidence
    assert hears("data-scale-drift", finding, told("optimizer/loss-spike")).confidence > alone
    assert hears("data-scale-drift", finding, told("data/range-extreme")).confidence == alone  # the same family
    against = told("data/unnormalised")
    assert hears("data-scale-drift", finding, against).confidence < alone
    assert hears("data-scale-drift", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-scale-drift", told("data/loader-bound"), told("optimizer/loss-spike"))
