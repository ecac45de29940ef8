"""The initial weights cannot be trained from."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_activation_growth():
    finding = told("model/activation-growth")
    evidence = hears("bad-init", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("initialise with torch.nn")


def test_what_else_was_seen_counts():
    finding = guess(told("model/activation-growth"))
    alone = hears("bad-init", finding).confidence
    assert hears("bad-init", finding, told("model/vanishing-gradient")).confidence > alone
    assert hears("bad-init", finding, told("model/dead-units")).confidence == alone  # the same family
    against = told("optimizer/lr-jump")
    assert hears("bad-init", finding, against).confidence < alone
    assert hears("bad-init", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("bad-init", told("data/loader-bound"), told("model/vanishing-gradient"))
