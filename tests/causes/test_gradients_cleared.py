"""Gradients are cleared before they are applied."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_zero_grad_misplaced():
    finding = told("optimizer/zero-grad-misplaced")
    evidence = hears("gradients-cleared", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("move zero_grad before th")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/zero-grad-misplaced"))
    alone = hears("gradients-cleared", finding).confidence
    assert hears("gradients-cleared", finding, told("optimizer/no-update")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("gradients-cleared", told("data/loader-bound"), told("optimizer/no-update"))
