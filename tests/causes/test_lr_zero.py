"""The learning rate is 0, or negative."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_lr_zero():
    finding = told("optimizer/lr-zero", "lr_zero")
    evidence = hears("lr-zero", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("print the factor of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/lr-zero", "lr_zero"))
    alone = hears("lr-zero", finding).confidence
    assert hears("lr-zero", finding, told("optimizer/no-update")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("lr-zero", told("data/loader-bound"), told("optimizer/no-update"))
