"""The logged loss is the true loss times the loss scale."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_loss_scale_leak():
    finding = told("logging/loss-scale-leak")
    evidence = hears("log-loss-scale-leak", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("log the loss before scal")


def test_what_else_was_seen_counts():
    finding = guess(told("logging/loss-scale-leak"))
    alone = hears("log-loss-scale-leak", finding).confidence
    assert hears("log-loss-scale-leak", finding, told("numerics/scaler-backoff")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("log-loss-scale-leak", told("data/loader-bound"), told("numerics/scaler-backoff"))
