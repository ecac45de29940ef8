"""The scaler is stepped and never updated."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_scaler_update_missing():
    finding = told("optimizer/scaler-update-missing")
    evidence = hears("amp-update-missing", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call scaler.update() onc")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/scaler-update-missing"))
    alone = hears("amp-update-missing", finding).confidence
    assert hears("amp-update-missing", finding, told("numerics/scaler-backoff")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-update-missing", told("data/loader-bound"), told("numerics/scaler-backoff"))
