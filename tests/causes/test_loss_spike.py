"""The loss jumped and nothing known explains it."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_loss_spike():
    finding = told("optimizer/loss-spike")
    evidence = hears("loss-spike", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("look at the samples of t")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/loss-spike"))
    alone = hears("loss-spike", finding).confidence
    assert hears("loss-spike", finding, told("optimizer/exploding-grad")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("loss-spike", told("data/loader-bound"), told("optimizer/exploding-grad"))
