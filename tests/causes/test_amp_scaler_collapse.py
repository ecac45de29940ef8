"""The loss scale shrinks for ever and no update is made."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_scaler_collapse():
    finding = told("numerics/scaler-collapse")
    evidence = hears("amp-scaler-collapse", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("run one step without aut")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/scaler-collapse"))
    alone = hears("amp-scaler-collapse", finding).confidence
    assert hears("amp-scaler-collapse", finding, told("optimizer/no-update")).confidence > alone
    assert hears("amp-scaler-collapse", finding, told("numerics/scaler-backoff")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-scaler-collapse", told("data/loader-bound"), told("numerics/scaler-backoff"))
