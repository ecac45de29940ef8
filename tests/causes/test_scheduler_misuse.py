"""The schedule is stepped, sized or monitored wrongly."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_lr_zero():
    finding = told("optimizer/lr-zero")
    evidence = hears("scheduler-misuse", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("print the factor of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/lr-zero"))
    alone = hears("scheduler-misuse", finding).confidence
    assert hears("scheduler-misuse", finding, told("optimizer/no-update")).confidence > alone
    assert hears("scheduler-misuse", finding, told("optimizer/lr-jump")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("scheduler-misuse", told("data/loader-bound"), told("optimizer/lr-jump"))
