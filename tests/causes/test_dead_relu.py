"""ReLU units are never active."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_dead_units():
    finding = told("model/dead-units")
    evidence = hears("dead-relu", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("lower the learning rate,")


def test_what_else_was_seen_counts():
    finding = guess(told("model/dead-units"))
    alone = hears("dead-relu", finding).confidence
    assert hears("dead-relu", finding, told("optimizer/loss-plateau")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("dead-relu", told("data/loader-bound"), told("optimizer/loss-plateau"))
