"""Gradients are computed and never applied."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_step_missing():
    finding = told("optimizer/step-missing")
    evidence = hears("step-missing", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call optimizer.step() af")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/step-missing"))
    alone = hears("step-missing", finding).confidence
    assert hears("step-missing", finding, told("optimizer/no-update")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("step-missing", told("data/loader-bound"), told("optimizer/no-update"))
