"""The loss scale is searched for too fast, too slowly, or not from where it fits."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_scaler_arguments():
    finding = told("numerics/scaler-arguments")
    signs = hears("amp-scaler-arguments", finding)
    assert signs.leading == finding
    assert signs.exact is False
    assert signs.remedies[0].startswith("leave growth_factor, bac")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/scaler-arguments"))
    alone = hears("amp-scaler-arguments", finding).confidence
    assert hears("amp-scaler-arguments", finding, told("numerics/scaler-backoff")).confidence == alone  # the same family
    against = told("numerics/scaler-collapse")
    assert hears("amp-scaler-arguments", finding, against).confidence < alone
    assert hears("amp-scaler-arguments", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-scaler-arguments", told("data/loader-bound"), told("numerics/scaler-backoff"))
