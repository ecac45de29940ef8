"""Inputs are far from zero mean and unit size."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_unnormalised():
    finding = told("data/unnormalised")
    evidence = hears("data-unnormalised", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("subtract the mean and di")


def test_what_else_was_seen_counts():
    finding = guess(told("data/unnormalised"))
    alone = hears("data-unnormalised", finding).confidence
    assert hears("data-unnormalised", finding, told("model/saturated-activation")).confidence > alone
    against = told("data/scale-drift")
    assert hears("data-unnormalised", finding, against).confidence < alone
    assert hears("data-unnormalised", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("data-unnormalised", told("data/loader-bound"), told("model/saturated-activation"))
