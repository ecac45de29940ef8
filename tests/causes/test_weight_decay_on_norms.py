"""Weight decay shrinks gains and biases."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_decayed_gains():
    finding = told("optimizer/decayed-gains")
    evidence = hears("weight-decay-on-norms", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("put the gains and biases")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/decayed-gains"))
    alone = hears("weight-decay-on-norms", finding).confidence
    assert hears("weight-decay-on-norms", finding, told("model/vanishing-gradient")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("weight-decay-on-norms", told("data/loader-bound"), told("model/vanishing-gradient"))
