"""A scaler steps parameters that are half themselves."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_half_gradients():
    finding = told("numerics/half-gradients")
    evidence = hears("amp-half-parameters", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("remove .half() from the ")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/half-gradients"))
    alone = hears("amp-half-parameters", finding).confidence
    assert hears("amp-half-parameters", finding, told("optimizer/eps-dtype")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("amp-half-parameters", told("data/loader-bound"), told("optimizer/eps-dtype"))


def test_the_change_is_made_at_the_line():
    assert change("amp-half-parameters", "model = Net().half()") == ("model = Net().float()",)
    assert change("amp-half-parameters", "pass") is None
