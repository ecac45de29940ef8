"""Gradients die out before the first layers."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_vanishing_gradient():
    finding = told("model/vanishing-gradient")
    evidence = hears("vanishing-gradients", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("add a normalisation laye")


def test_what_else_was_seen_counts():
    finding = guess(told("model/vanishing-gradient"))
    alone = hears("vanishing-gradients", finding).confidence
    assert hears("vanishing-gradients", finding, told("optimizer/loss-plateau")).confidence > alone
    against = told("optimizer/exploding-grad")
    assert hears("vanishing-gradients", finding, against).confidence < alone
    assert hears("vanishing-gradients", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("vanishing-gradients", told("data/loader-bound"), told("optimizer/loss-plateau"))
