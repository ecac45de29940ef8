"""Logits grow without a bound."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_logit_divergence():
    finding = told("model/logit-divergence")
    evidence = hears("logit-divergence", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("add a z-loss: 1e-4 * log")


def test_what_else_was_seen_counts():
    finding = guess(told("model/logit-divergence"))
    alone = hears("logit-divergence", finding).confidence
    assert hears("logit-divergence", finding, told("optimizer/loss-divergence")).confidence > alone
    assert hears("logit-divergence", finding, told("model/attention-scores")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("logit-divergence", told("data/loader-bound"), told("optimizer/loss-divergence"))
