"""The loss scale is searched for too fast, too slowly, or not from where it fits."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_scaler_arguments():
    finding = told("numerics/scaler-arguments")
    evidence = hears("amp-scaler-arguments", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("leave growth_factor, bac")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/scaler-arguments"))
    alone = hears("amp-scaler-arguments", finding).confidence
    # the same family
    assert hears("amp-scaler-arguments", finding, told("numerics/scaler-backoff")).confidence == alone
    against = told("numerics/scaler-collapse")
    assert hears("amp-scaler-arguments", finding, against).confidence < alone
    assert hears("amp-scaler-arguments", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-scaler-arguments", told("data/loader-bound"), told("numerics/scaler-backoff"))
