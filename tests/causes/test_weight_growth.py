"""Weights grow steadily."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_weight_norm_growth():
    finding = told("optimizer/weight-norm-growth")
    evidence = hears("weight-growth", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the sign of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/weight-norm-growth"))
    alone = hears("weight-growth", finding).confidence
    assert hears("weight-growth", finding, told("model/logit-divergence")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("weight-growth", told("data/loader-bound"), told("model/logit-divergence"))
