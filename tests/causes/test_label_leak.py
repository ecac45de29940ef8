"""The model sees what it has to predict."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_future_leak():
    finding = told("model/future-leak")
    evidence = hears("label-leak", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("pass is_causal=True to s")


def test_what_else_was_seen_counts():
    finding = guess(told("model/future-leak"))
    alone = hears("label-leak", finding).confidence
    assert hears("label-leak", finding, told("optimizer/validation-gap")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("label-leak", told("data/loader-bound"), told("optimizer/validation-gap"))
